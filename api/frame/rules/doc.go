// Package rules says what the members of requests must satisfy. Rules are written in the tags of a request's type and are read
// from there by the frame, the OpenAPI document and the tests of bad input, so that these cannot disagree.
//
// It imports schema only.
package rules
