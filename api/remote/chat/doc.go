// Package chat sends requests to language models through the usual interface for chat completions (POST
// .../chat/completions). It returns a complete answer, as text or as a checked JSON value. Its errors say whether a
// retry may help.
//
// Of this module it imports only package provider. Tests of packages that use it can use the server of package
// chattest.
package chat
