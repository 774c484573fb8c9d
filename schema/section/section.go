// Package section has the two forms of the ids of site sections. Stored ids have no prefix. Ids in responses have a
// prefix, because front ends use them as identifiers in style sheets, which cannot begin with a digit. Requests,
// filters and events may have either form. The package imports no other package of this module.
package section

import "strings"

// Prefix is the text that Shown adds to ids. Pattern is a regular expression for ids without the prefix.
const (
	Prefix  = "sec_"
	Pattern = "^[0-9a-v]{26}$"
)

// Shown returns an id in the form that responses have. It returns any other text unchanged.
func Shown(id string) string {
	if !made(id) {
		return id
	}
	return Prefix + id
}

// ID returns the stored form of an id from a request.
func ID(sent string) string {
	if id, shown := strings.CutPrefix(sent, Prefix); shown && made(id) {
		return id
	}
	return sent
}

// made reports whether a text has the form of an id that this service makes.
func made(id string) bool {
	if len(id) != 26 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}
