package eventstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestAnotherBaseline: an events table of another baseline, or without one, is refused in one sentence. A new table and
// an empty database are accepted.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	_, conn := newTestStore(t)
	if err := CheckBaseline(t.Context(), conn); err != nil {
		t.Errorf("a new table: %v", err)
	}
	exec := func(statement string) {
		t.Helper()
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	ours := fmt.Sprint("octavo baseline ", schema.Baseline)
	for comment, want := range map[string]string{
		ours: "", "events of the docs (" + ours + ")": "", "": "has no baseline", "my events": "has no baseline",
		"octavo baseline 0": "has baseline 0", ours + "1": "has baseline " + ours[len("octavo baseline "):] + "1",
	} {
		t.Run(comment, func(t *testing.T) {
			exec("ALTER TABLE events MODIFY COMMENT '" + comment + "'")
			err := CheckBaseline(t.Context(), conn)
			if want == "" && err != nil || want != "" && (!errors.Is(err, ErrBaseline) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("got %v", err)
			}
		})
	}
	// What a cluster that was made by half has.
	exec("RENAME TABLE events TO events_local")
	exec("ALTER TABLE events_local MODIFY COMMENT ''")
	if err := CheckBaseline(t.Context(), conn); !errors.Is(err, ErrBaseline) {
		t.Errorf("a local table: %v", err)
	}
	exec("DROP TABLE events_local")
	if err := CheckBaseline(t.Context(), conn); err != nil {
		t.Errorf("no table: %v", err)
	}
}
