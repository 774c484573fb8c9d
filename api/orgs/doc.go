// Package orgs implements the operations on organizations and the people in them: users, members, teams, invites,
// e-mail domains and SAML providers.
//
// It imports the frame, access, view and mergerules. It must not import another package of operations.
package orgs
