// Package people defines the people of an organization: its members and teams, their permissions on content,
// invitations, and single sign-on.
//
// Of this module it imports only package schema.
package people
