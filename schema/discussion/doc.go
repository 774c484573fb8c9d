// Package discussion defines comments, their replies and reactions, and reviews of change requests.
//
// The only other package of this module that it imports is schema.
package discussion
