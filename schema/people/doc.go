// Package people defines the people of an organization: its members and teams, their permissions on content,
// invitations, and single sign-on.
//
// The only other package of this module that it imports is schema.
package people
