package insights

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestCheckBaseline checks that CheckBaseline distinguishes messages of another baseline from current messages and from
// other bytes. It also checks that ParseMessage and MessageIDOf refuse messages of another baseline.
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
		found int // -1 if the data is not a message of another baseline
	}{
		"ours":             {ours, -1},
		"before baselines": {with('E'), 0},
		"the next":         {with('E' + schema.Baseline + 1), schema.Baseline + 1},
		"no letter":        {with(0xff), -1},
		"too short":        {ours[:10], -1},
		"text":             {[]byte("OK, this is a text of another program"), -1},
		"no bytes":         {nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckBaseline(c.data)
			other, ok := errors.AsType[BaselineError](err)
			if ok != (c.found >= 0) || ok && other.Found != c.found || !ok && err != nil {
				t.Fatalf("got %v, want baseline %d", err, c.found)
			}
			if !ok {
				return
			}
			_, err = ParseMessage(c.data)
			if !errors.Is(err, ErrNewer) || errors.Is(err, ErrMessage) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ParseMessage returns %v, want one line that is ErrNewer", err)
			}
			if id, ok := MessageIDOf(c.data); ok {
				t.Errorf("MessageIDOf returns %x, want no id", id)
			}
		})
	}
}
