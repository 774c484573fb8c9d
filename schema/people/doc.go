// Package people defines who belongs to an organization: its members and teams, their permissions on content,
// invitations, and single sign-on.
//
// Of this module it imports package schema and nothing else.
package people
