package sink

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestCutToken checks that every sink that reads the same messages gets the same token. Other bounds, other rows, or
// another log with the same offsets must give other tokens.
func TestCutToken(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := intaketest.New(t, log)
	for i := range 6 {
		if err := in.Accept(t.Context(), intaketest.Site, numbered(i, 1), intaketest.Client); err != nil {
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
				k.messages = append(k.messages, fetched{offset: offset, data: m})
				offset++
			}
			list = append(list, k)
		}
		c.fill(p, from, list, insights.ParseMessage)
		return c
	}
	a := cutOf(0, 5, log.Messages[:3])
	token := a.token("topic", 0, a.total)
	if b := cutOf(0, 5, log.Messages[:1], log.Messages[1:3]); b.token("topic", 0, b.total) != token {
		t.Error("the token depends on the fetches")
	}
	for name, other := range map[string]string{
		"rows":      a.token("topic", 0, 2),
		"topic":     a.token("other", 0, a.total),
		"messages":  cutOf(0, 5, log.Messages[3:]).token("topic", 0, a.total),
		"bounds":    cutOf(0, 5, log.Messages[:2]).token("topic", 0, 2),
		"offsets":   cutOf(0, 6, log.Messages[:3]).token("topic", 0, a.total),
		"partition": cutOf(1, 5, log.Messages[:3]).token("topic", 0, a.total),
	} {
		t.Run(name, func(t *testing.T) {
			if other == token {
				t.Errorf("the token does not depend on the %s", name)
			}
		})
	}
}

// TestRepeats checks that only the messages in the window before a message decide whether it is a repeat. The offset
// where a sink begins to read, and the time when it calls `recall`, do not matter.
func TestRepeats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.IntRange(1, 8).Draw(t, "window")
		ids := rapid.SliceOfN(rapid.ByteRange(0, 5), 1, 60).Draw(t, "ids")
		plain := rapid.SliceOfN(rapid.Bool(), len(ids), len(ids)).Draw(t, "plain")
		fetchProgress := rapid.IntRange(0, len(ids)-1).Draw(t, "begin")
		var older []seenMessage
		hasPlain := false
		for i := max(0, fetchProgress-window); i < fetchProgress; i++ {
			older = append(older, seenMessage{insights.MessageID{ids[i]}, int64(i), plain[i]})
			hasPlain = hasPlain || plain[i]
		}
		r := newRepeats(window)
		recalled := false
		for i := fetchProgress; i < len(ids); i++ {
			if hasPlain = hasPlain || plain[i]; hasPlain && !recalled {
				r.recall(older)
				recalled = true
			}
			want := true
			for before := max(0, i-window); before < i; before++ {
				want = want && (ids[before] != ids[i] || !plain[before] && !plain[i])
			}
			if got := r.first(insights.MessageID{ids[i]}, int64(i), plain[i]); got != want {
				t.Fatalf("message %d of %v (plain %v): first is %v, want %v", i, ids, plain, got, want)
			}
		}
	})
}

// TestProgress checks that parsing the metadata of a progress returns the same progress. Metadata of another version
// must count as no metadata.
func TestProgress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := progress{
			offset: rapid.Int64Range(0, 1<<50).Draw(t, "offset"), known: true,
			plain: rapid.Int64Range(unknownPlain, 1<<50).Draw(t, "plain"), end: rapid.Int64Range(0, 1<<50).Draw(t, "end"),
			lost: losses{rapid.Int64Range(0, 1<<50).Draw(t, "expired"), rapid.Int64Range(0, 5).Draw(t, "recreated")},
		}
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
