// Package rules defines what the members of requests must satisfy. Rules are written in the tags of a request's type.
// The frame, the OpenAPI document and the tests of bad input all read the same tags, so they always agree.
//
// The only other package of this module that it imports is schema.
package rules
