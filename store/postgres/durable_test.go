package postgres

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestCommitsAreDurable checks that a commit waits for the disk even if the role or the server is configured not to
// wait. A stronger configuration stays.
func TestCommitsAreDurable(t *testing.T) {
	t.Parallel()
	url := enginetest.Postgres(t)
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	for set, want := range map[string]string{"off": "on", "local": "local", "remote_apply": "remote_apply"} {
		s, err := New(Config{URL: url + mark + "synchronous_commit=" + set, MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := s.Pool.QueryRow(t.Context(), "show synchronous_commit").Scan(&got); err != nil || got != want {
			t.Errorf("with synchronous_commit=%s it is %s, want %s; %v", set, got, want, err)
		}
		s.Stop()
	}
}
