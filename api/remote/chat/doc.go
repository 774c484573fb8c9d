// Package chat sends requests to language models through the usual interface for chat completions (POST
// .../chat/completions). It returns a complete answer, as text or as a checked JSON value. Its errors say whether a
// retry may help.
//
// The only other package of this module that it imports is provider. Tests of packages that use chat can use the server
// of package chattest.
package chat
