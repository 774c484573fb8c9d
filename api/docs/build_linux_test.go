package docs_test

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/docs"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
)

// TestBuildIsFast limits the processor time of building all pages, because the first reader waits for it. Other
// programs on the machine hardly affect processor time.
func TestBuildIsFast(t *testing.T) {
	const most = time.Second
	best := time.Hour
	for range 5 {
		best = min(best, cputime.Of(func() {
			if _, err := docs.Pages(api.Table(), describe).Build(); err != nil {
				t.Error(err)
			}
		}))
	}
	t.Logf("all pages are built in %v", best)
	if best > most {
		t.Errorf("all pages take %v of processor time, want at most %v", best, most)
	}
}
