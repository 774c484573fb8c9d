// Package discussion defines comments, their replies and reactions, and reviews of change requests.
//
// Of this module it imports only package schema.
package discussion
