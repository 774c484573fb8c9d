// Package rules defines what the members of requests must satisfy. Rules are written in the tags of a request's type.
// The frame, the OpenAPI document and the bad-input tests all read them there, so they cannot disagree.
//
// Of this module it imports only schema.
package rules
