//go:build race

package query

import "flag"

// init lowers the number of draws under the race detector. The differential test runs one request at a time, so the
// detector finds nothing more in the full number. Short mode draws a fifth, 50.
func init() {
	if err := flag.Set("rapid.checks", "250"); err != nil {
		panic(err)
	}
}
