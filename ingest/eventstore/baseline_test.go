package eventstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestAnotherBaseline checks that CheckBaseline refuses an events table with another baseline or no baseline. The error
// is one line. CheckBaseline accepts a new table and an empty database.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	_, conn := newTestStore(t)
	if err := CheckBaseline(t.Context(), conn); err != nil {
		t.Errorf("CheckBaseline of a new table: %v", err)
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
			if want == "" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				return
			}
			if !errors.Is(err, ErrBaseline) {
				t.Fatalf("got %v, want an error about the baseline", err)
			}
			if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line with %q", text, want)
			}
		})
	}
	// If the creation of a cluster's tables was interrupted, only the local table exists.
	exec("RENAME TABLE events TO events_local")
	exec("ALTER TABLE events_local MODIFY COMMENT ''")
	if err := CheckBaseline(t.Context(), conn); !errors.Is(err, ErrBaseline) {
		t.Errorf("CheckBaseline of a local table without a baseline: %v", err)
	}
	exec("DROP TABLE events_local")
	if err := CheckBaseline(t.Context(), conn); err != nil {
		t.Errorf("CheckBaseline of an empty database: %v", err)
	}
}
