// Package apps has the operations that work alongside content: integrations, the OpenAPI specifications that customers upload,
// and conversations with the clusters of their issues.
//
// It imports the frame, access and view, and no other domain. It also calls schema/conversations and
// api/remote/openapi, which have only functions.
package apps
