//go:build race

package query

import "flag"

// The differential test draws one request after the other: under the race detector it would only repeat what the long
// form proves without. Short mode draws a fifth, 50.
func init() {
	if err := flag.Set("rapid.checks", "250"); err != nil {
		panic(err)
	}
}
