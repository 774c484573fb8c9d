// Package chat asks language models, by the interface of chat completions that many servers have in common
// (POST …/chat/completions). Its one job is to give a complete answer, as text or as a checked JSON value, or an error that says
// whether asking again helps.
//
// It imports of Octavo only package provider. Tests of its users talk to package chattest.
package chat
