// Package apps has the operations on integrations, on uploaded OpenAPI specifications, on conversations, and on
// clusters of the issues in conversations.
//
// It imports the frame, access and view. It must not import another domain. It also calls schema/conversations and
// api/remote/openapi, which have only functions.
package apps
