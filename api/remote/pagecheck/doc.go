// Package pagecheck loads a web page like a reader's browser. It finds out whether a script of the page would run and
// could send requests. page.go reads the HTML, csp.go reads the content security policies, and load.go sends the
// requests.
//
// It runs no script. If another script adds the tracker's script, its address is found in the text of the page and of
// the page's own scripts.
//
// Of this module it imports only package outbound.
package pagecheck
