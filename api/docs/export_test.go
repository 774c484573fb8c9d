package docs

import "github.com/octavo-docs/octavo/api/frame"

// These exports let tests read the parts of pages. Tests need package api for the table, so they are external.

// Operation is an operation in the form that pages display.
type Operation = operation

// Operations describes the operations of a table.
func Operations(table frame.Table, describe func() ([]byte, error)) ([]Operation, error) {
	s, err := collect(table, describe)
	if err != nil {
		return nil, err
	}
	return s.operations(), nil
}

// Tags are the tags with a page.
func Tags() (tags []string) {
	for _, g := range groups() {
		tags = append(tags, g.Tag)
	}
	return tags
}

// Meanings, RouteKey, ClientFile and Writers are the inputs of the pages.
var (
	Meanings   = readMeanings
	RouteKey   = routeKey
	ClientFile = clientFile
	Languages  = len(writers)
)
