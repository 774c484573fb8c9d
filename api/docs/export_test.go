package docs

import "github.com/octavo-docs/octavo/api/frame"

// The declarations in this file let tests read parts of pages. The tests are in another package, because they import
// package api for its table, and api imports docs.

// Operation is an operation in the form that pages display.
type Operation = operation

// Operations returns the operations of a table as pages show them.
func Operations(table frame.Table, describe func() ([]byte, error)) ([]Operation, error) {
	s, err := collect(table, describe)
	if err != nil {
		return nil, err
	}
	return s.operations(), nil
}

// Tags returns the tags that have a page.
func Tags() (tags []string) {
	for _, g := range groups() {
		tags = append(tags, g.Tag)
	}
	return tags
}

// Meanings, RouteKey, ClientFile and Languages are what pages are made from.
var (
	Meanings   = readMeanings
	RouteKey   = routeKey
	ClientFile = clientFile
	Languages  = len(writers)
)
