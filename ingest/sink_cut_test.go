package ingest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestCutToken: whoever reads the same messages makes the same token; other
// bounds, other rows and another log with the same offsets make others.
func TestCutToken(t *testing.T) {
	t.Parallel()
	log := &memoryLog{}
	in := newTestIntake(t, log, nil)
	for i := range 6 {
		if err := in.Accept(t.Context(), testSite, numbered(i, 1), testClient); err != nil {
			t.Fatal(err)
		}
	}
	cutOf := func(id int, from int64, chunks ...[][]byte) *cut {
		p := &partition{id: id, repeats: newRepeats(10)}
		c := newCut()
		var list []*chunk
		offset := from
		for _, messages := range chunks {
			k := &chunk{partition: p}
			for _, m := range messages {
				k.messages = append(k.messages, fetched{offset, m})
				offset++
			}
			list = append(list, k)
		}
		c.fill(p, from, list)
		return c
	}
	a := cutOf(0, 5, log.messages[:3])
	token := a.token("topic", 0, a.total)
	if b := cutOf(0, 5, log.messages[:1], log.messages[1:3]); b.token("topic", 0, b.total) != token {
		t.Error("the token depends on the fetches")
	}
	for name, other := range map[string]string{
		"rows":      a.token("topic", 0, 2),
		"topic":     a.token("other", 0, a.total),
		"messages":  cutOf(0, 5, log.messages[3:]).token("topic", 0, a.total),
		"bounds":    cutOf(0, 5, log.messages[:2]).token("topic", 0, 2),
		"offsets":   cutOf(0, 6, log.messages[:3]).token("topic", 0, a.total),
		"partition": cutOf(1, 5, log.messages[:3]).token("topic", 0, a.total),
	} {
		if other == token {
			t.Errorf("the token does not depend on the %s", name)
		}
	}
}

// TestRepeats: what is a repeat depends on the messages before it, as many as
// the window has, wherever reading began.
func TestRepeats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.IntRange(1, 8).Draw(t, "window")
		ids := rapid.SliceOfN(rapid.ByteRange(0, 5), 1, 60).Draw(t, "ids")
		begin := rapid.IntRange(0, len(ids)-1).Draw(t, "begin")
		r := newRepeats(window)
		for i := max(0, begin-window); i < len(ids); i++ {
			got := r.first(insights.MessageID{ids[i]}, int64(i))
			want := true
			for before := max(0, i-window); before < i; before++ {
				want = want && ids[before] != ids[i]
			}
			if i >= begin && got != want {
				t.Fatalf("message %d of %v: first is %v, want %v", i, ids, got, want)
			}
		}
	})
}

// TestProgress: what the group keeps is read as it was written, and what
// another version wrote is as nothing.
func TestProgress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := progress{offset: rapid.Int64Range(0, 1<<50).Draw(t, "offset"), known: true}
		if rapid.Bool().Draw(t, "intent") {
			p.intent = p.offset + rapid.Int64Range(1, 1<<20).Draw(t, "more")
		}
		if p.hasTail = rapid.Bool().Draw(t, "has tail"); p.hasTail {
			p.tail = rapid.Uint64().Draw(t, "tail")
		}
		if got := parseProgress(p.offset, p.metadata()); got != p {
			t.Fatalf("%q is read as %+v, want %+v", p.metadata(), got, p)
		}
		text := rapid.String().Draw(t, "text")
		if got := parseProgress(p.offset, text); got.known || got.intent != 0 {
			t.Fatalf("%q is read as %+v", text, got)
		}
	})
}
