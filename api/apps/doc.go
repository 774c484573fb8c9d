// Package apps has the operations that work alongside content: integrations, the OpenAPI specifications that customers upload,
// and conversations with the clusters of their issues.
//
// Like every domain it imports the frame, access, view and mergerules, and no other domain. It also calls ingest/conversations
// and ingest/openapi, which hold only functions.
package apps
