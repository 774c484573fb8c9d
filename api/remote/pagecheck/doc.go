// Package pagecheck loads a web page as a reader's browser does. It finds out whether a script of the page would run
// and could send requests. page.go reads the HTML, csp.go reads the content security policies, and load.go sends the
// requests.
//
// It runs no script. A script that another script adds is found by its address in the texts of the page and of the
// page's own scripts.
//
// It imports of Octavo only package outbound.
package pagecheck
