package eventstore

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
)

// TestInsertQuorum checks the quorum setting of inserts. On a cluster, an insert succeeds only when several replicas
// have it. A single server gets no such setting.
func TestInsertQuorum(t *testing.T) {
	t.Parallel()
	_, conn := newTestStore(t)
	for _, c := range []struct {
		cluster, quorum string
		want            any
	}{{"", "auto", nil}, {"events", "", "auto"}, {"events", "2", "2"}, {"events", "off", nil}} {
		t.Run(c.cluster+" "+c.quorum, func(t *testing.T) {
			store, err := New(Config{Conn: conn, Cluster: c.cluster, InsertQuorum: c.quorum})
			if err != nil {
				t.Fatal(err)
			}
			settings, err := store.settingsFor(t.Context(), "token")
			if err != nil || settings["insert_quorum"] != c.want || settings["insert_deduplicate"] != 1 {
				t.Errorf("on the cluster %q with %q: %v, %v", c.cluster, c.quorum, settings, err)
			}
			if _, ok := settings["insert_quorum_timeout"]; ok != (c.want != nil) {
				t.Errorf("on the cluster %q with %q: %v", c.cluster, c.quorum, settings)
			}
		})
	}
	for _, quorum := range []string{"0", "-1", "two", "1.5", " "} {
		if _, err := New(Config{Conn: conn, InsertQuorum: quorum}); err == nil {
			t.Errorf("a quorum of %q is accepted", quorum)
		}
	}
	store, err := New(Config{Conn: conn, Cluster: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	logged, reported := &capture.Buffer{}, map[string]bool{}
	store.CheckQuorum(t.Context(), func(setting string, unsafe bool) { reported[setting] = unsafe }, slog.New(slog.NewTextHandler(logged, nil)))
	if !reported[QuorumSetting] || !strings.Contains(logged.String(), "no such cluster") {
		t.Errorf("for a cluster that does not exist, the log says %s", logged)
	}
}

func TestWhyUnsafe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quorum   string
		replicas []uint64
		want     string
	}{
		{"auto", nil, "no such cluster"},
		{"auto", []uint64{3, 1}, "one replica"},
		{"auto", []uint64{2, 3}, ""},
		{"off", []uint64{3, 3}, "counts when one"},
		{"1", []uint64{3, 3}, "counts when one"},
		{"2", []uint64{3, 2}, ""},
		{"3", []uint64{3, 2}, "ever counts"},
	} {
		t.Run(fmt.Sprint(c.quorum, " of ", c.replicas), func(t *testing.T) {
			if got := whyUnsafe(c.quorum, c.replicas); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("a quorum of %s of %v: %q, want %q", c.quorum, c.replicas, got, c.want)
			}
		})
	}
}
