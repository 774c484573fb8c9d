package gitlayout

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumbersCost gives one name to many entries of a table of contents, and to many files and folders of an export. It
// counts the allocations. Each number that is tried is at least one allocation.
func TestNumbersCost(t *testing.T) {
	const count = 2000
	within := func(name string, most int, run func()) {
		t.Helper()
		if allocations := testing.AllocsPerRun(1, run); allocations > float64(most) {
			t.Errorf("%s: %.0f allocations, want at most %d", name, allocations, most)
		}
	}
	l := &Layout{files: map[string]File{}, folded: map[string]string{}, folders: map[string]bool{}}
	s := parseSummary(strings.Repeat("## Group\n\n", count))
	last := ""
	within("entries", 60*count, func() {
		root := l.outlineOf(s)
		last = root[len(root)-1].Key
	})
	if want := fmt.Sprintf("#%d", count); !strings.HasSuffix(last, want) {
		t.Errorf("the last key is %q, want %q at its end", last, want)
	}
	within("files", 60*count, func() {
		x := &exporter{layout: l, folded: map[string]bool{}, numbers: counter{}}
		for range count {
			last = x.free("docs/page.md", "docs/page.md")
		}
	})
	if want := fmt.Sprintf("docs/page-%d.md", count-1); last != want {
		t.Errorf("the last file is %q, want %q", last, want)
	}
	for n := range count {
		name := "docs"
		if n > 0 {
			name = fmt.Sprintf("docs-%d", n)
		}
		l.files[name], l.folded[l.fold(name)] = File{}, name
	}
	within("folders", 60*count, func() {
		x := &exporter{layout: l, folded: map[string]bool{}, numbers: counter{}}
		for range count {
			last = x.inFolder("docs/page.md")
		}
	})
	if want := fmt.Sprintf("docs-%d/page.md", count); last != want {
		t.Errorf("the last folder is %q, want %q", last, want)
	}
}
