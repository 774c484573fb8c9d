package merge_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// TestLongPagesMerge merges edits of pages of the largest size. The result must contain the text of each side, and the
// memory must be bounded. The test is not parallel, because it measures the memory of the process. With -short, the
// test leaves out the page with many blocks: TestDocumentsAreBounded checks its bound.
func TestLongPagesMerge(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		conflicts int
		most      uint64 // MiB
	}{
		"words":   {contenttest.LongWords(), 0, 128},
		"chinese": {contenttest.LongChinese(), 0, 128},
		"page":    {contenttest.LongPage(), 0, 1024},
		// All places in this text look the same. So it cannot be determined where an edit was made.
		"letters": {strings.Repeat("a b ", schema.MaxPage/4), 1, 128},
	} {
		if testing.Short() && name == "page" {
			continue
		}
		text := []rune(c.text)
		read := func(at int, insert string) schema.Document {
			d, err := markdown.Read(string(text[:at]) + insert + string(text[at+len([]rune(insert)):]))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		base, ours, theirs := read(0, ""), read(len(text)/3, " oneunique 新甲 "), read(2*len(text)/3, " twounique 新乙 ")
		keys.Assign(&base, nil)
		keys.Assign(&ours, &base)
		keys.Assign(&theirs, &base)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		merged, conflicts := merge.Documents(base, ours, theirs, nil)
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > c.most {
			t.Errorf("%s: the merge took %d MiB of memory, want at most %d", name, taken, c.most)
		}
		if len(conflicts) != c.conflicts {
			t.Errorf("%s: %d conflicts, want %d", name, len(conflicts), c.conflicts)
		}
		shown := content.Plain(merged)
		if !strings.Contains(shown, "oneunique 新甲") || c.conflicts == 0 && !strings.Contains(shown, "twounique 新乙") {
			t.Errorf("%s: an edit is lost", name)
		}
		if length := len([]rune(shown)); length > len(text) || name != "page" && length < len(text)-64 {
			t.Errorf("%s: %d characters of %d are left", name, length, len(text))
		}
	}
}
