package ingest

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
)

// TestInsertQuorum: on a cluster an insert counts when several replicas have it,
// and on one server nothing is said of them.
func TestInsertQuorum(t *testing.T) {
	t.Parallel()
	_, conn := newStore(t)
	for _, c := range []struct {
		cluster, quorum string
		want            any
	}{{"", "auto", nil}, {"events", "", "auto"}, {"events", "2", "2"}, {"events", "off", nil}} {
		store, err := NewClickHouse(ClickHouseConfig{Conn: conn, Cluster: c.cluster, InsertQuorum: c.quorum})
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
	}
	for _, quorum := range []string{"0", "-1", "two", "1.5", " "} {
		if _, err := NewClickHouse(ClickHouseConfig{Conn: conn, InsertQuorum: quorum}); err == nil {
			t.Errorf("a quorum of %q is taken", quorum)
		}
	}
	store, err := NewClickHouse(ClickHouseConfig{Conn: conn, Cluster: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	said, m := &capture.Buffer{}, testMetrics()
	store.CheckQuorum(t.Context(), m, slog.New(slog.NewTextHandler(said, nil)))
	if !unsafeOf(&Log{metrics: m})[insertQuorum] || !strings.Contains(said.String(), "no such cluster") {
		t.Errorf("of a cluster that there is not it says %s", said)
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
		if got := whyUnsafe(c.quorum, c.replicas); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("a quorum of %s of %v: %q, want %q", c.quorum, c.replicas, got, c.want)
		}
	}
}
