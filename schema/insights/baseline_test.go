package insights

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestCheckBaseline: a message of another baseline is told from ours and from other bytes, and is not read.
func TestCheckBaseline(t *testing.T) {
	t.Parallel()
	var e Encoder
	e.Begin(MessageID{1}, "site", 0)
	ours := e.Bytes()
	with := func(letter byte) []byte {
		other := slices.Clone(ours)
		other[1] = letter
		return other
	}
	for name, c := range map[string]struct {
		data  []byte
		found int // -1: none
	}{
		"ours":             {ours, -1},
		"before baselines": {with('E'), 0},
		"the next":         {with('E' + schema.Baseline + 1), schema.Baseline + 1},
		"no letter":        {with(0xff), -1},
		"too short":        {ours[:10], -1},
		"text":             {[]byte("OK, this is a text of somebody else"), -1},
		"nothing":          {nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckBaseline(c.data)
			other, ok := errors.AsType[BaselineError](err)
			if ok != (c.found >= 0) || ok && other.Found != c.found || !ok && err != nil {
				t.Fatalf("got %v", err)
			}
			if !ok {
				return
			}
			if _, err := ParseMessage(c.data); !errors.Is(err, ErrNewer) || errors.Is(err, ErrMessage) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it is read: %v", err)
			}
			if id, ok := MessageIDOf(c.data); ok {
				t.Errorf("it has the id %x", id)
			}
		})
	}
}
