package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/observe"
	"github.com/octavo-docs/octavo/schema"
)

// TestVerify verifies sound data, and then data with a damaged part of the events table and a damaged page of Postgres.
func TestVerify(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	if status, answer := i.post(i.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(2, 2)
	i.wantCounted(2)
	verify := func(want map[string]int64) {
		t.Helper()
		output, err := i.octavo("verify", "--deep", "--json")
		var exit *exec.ExitError
		damaged := errors.As(err, &exit) && exit.ExitCode() == 1
		if (err != nil && !damaged) || damaged != (len(want) > 0) {
			t.Fatalf("%v: %s", err, output)
		}
		var list []schema.Verification
		if err := json.Unmarshal([]byte(output), &list); err != nil || len(list) != len(verifications) {
			t.Fatalf("%v: %s", err, output)
		}
		for _, v := range list {
			if v.Damaged != want[v.Kind] || (v.Hint == "") != (v.Damaged == 0) {
				t.Errorf("%+v, want %d damaged", v, want[v.Kind])
			}
			if (v.Kind == verifiedEvents || v.Kind == "event log" || v.Kind == "postgres pages") && v.Bytes == 0 {
				t.Errorf("%+v: nothing was read", v)
			}
		}
	}
	conn := i.postgres()
	var page string
	const make = "create table rotten as select generate_series(1, 1000) as n"
	if _, err := conn.Exec(t.Context(), make); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "select pg_relation_filepath('rotten')").Scan(&page); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	verify(nil) // the pages are on the disk afterwards

	part, _ := i.part()
	i.stop()
	damageFile(t, filepath.Join(part, "data.bin"))
	found, err := filepath.Glob(filepath.Join(i.dir, "postgres", "*", page))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: no file %s: %v", err, page, found)
	}
	damageFile(t, found[0])
	i.start("--accept-loss=postgres")
	verify(map[string]int64{verifiedEvents: 1, "postgres pages": 5})
}

// TestVerifyWatch shows the results of a verification in /readyz and in a metric, until a later verification finds no
// damage.
func TestVerifyWatch(t *testing.T) {
	t.Parallel()
	w := &verifyWatch{damaged: observe.NewDamaged(prometheus.NewRegistry())}
	for _, damaged := range []int64{0, 3, 0} {
		w.show([]schema.Verification{{Kind: "files", Damaged: damaged}, {Kind: verifiedEvents}})
		condition, _ := errors.AsType[*frame.Condition](w.check(t.Context()))
		if (condition != nil) != (damaged > 0) ||
			condition != nil && (condition.Word != "damaged: 3" || !condition.Serves) {
			t.Errorf("%d damaged: /readyz says %+v", damaged, condition)
		}
		if n := testutil.ToFloat64(w.damaged.WithLabelValues("files")); n != float64(damaged) {
			t.Errorf("%d damaged: the metric is %v", damaged, n)
		}
	}
}
