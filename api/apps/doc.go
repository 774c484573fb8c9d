// Package apps has the operations on integrations, on uploaded OpenAPI specifications, and on conversations with the
// clusters of their issues.
//
// It imports the frame, access and view. It must not import another domain. It also calls schema/conversations and
// api/remote/openapi, which have only functions.
package apps
