//go:build race

package query

import "flag"

// The differential test draws one request after the other: under the race detector
// it would only repeat what it proves without.
func init() {
	if err := flag.Set("rapid.checks", "50"); err != nil {
		panic(err)
	}
}
