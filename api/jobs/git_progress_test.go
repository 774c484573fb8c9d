package jobs

import (
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestNewsOfProgressStays: progress news stay unchanged while the watcher encodes them, even if the run collects more
// news concurrently.
func TestNewsOfProgressStays(t *testing.T) {
	t.Parallel()
	var p gitProgress
	p.at(schema.GitPushing, 1, 3)
	first := p.news()
	if again := p.news(); again != nil {
		t.Errorf("the same progress is told again: %+v", again)
	}
	p.at(schema.GitPushing, 2, 3)
	second := p.news()
	if first.Done != 1 || second == nil || second.Done != 2 {
		t.Errorf("told %+v, then %+v", first, second)
	}
}
