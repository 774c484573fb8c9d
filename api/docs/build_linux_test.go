package docs_test

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/docs"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
)

// TestBuildIsFast bounds the processor time that the first reader waits for. Other programs cannot affect it much.
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
