// Package apps has the operations on what works beside content: integrations, the specifications that customers upload, and
// conversations with the clusters of their issues.
//
// Like every domain it imports the frame, access, view and mergerules, and no other domain. ingest/conversations and
// ingest/openapi, which it calls, are nothing but functions.
package apps
