// Package apps has the operations on integrations, on uploaded OpenAPI specifications, on conversations, and on
// clusters of the issues in conversations.
//
// It imports the frame, access and view. It must not import another package of operations. It also calls functions of
// schema/conversations and api/remote/openapi.
package apps
