// Package pagecheck loads a web page as a browser does. It finds out whether a script of the page would run, and
// whether the script could send requests. page.go reads the HTML, csp.go reads the content security policies, and
// load.go sends the requests.
//
// The package runs no scripts. Another script may add the tracker's script to the page. Then the address of the
// tracker's script is searched in the text of the page and of the page's own scripts.
//
// The only other package of this module that it imports is outbound.
package pagecheck
