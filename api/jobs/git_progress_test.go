package jobs

import (
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestNewsOfProgressStays: the progress that `news` returns does not change while the watcher encodes it, even if the
// run makes more progress at the same time.
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
