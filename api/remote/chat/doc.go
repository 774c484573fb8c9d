// Package chat sends requests to language models through the common interface of chat completions (POST
// .../chat/completions). It returns a complete answer, as text or as a checked JSON value. An error shows whether a
// retry may help.
//
// Of this module it imports only package provider. Tests of its users talk to package chattest.
package chat
