package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/observe"
	"github.com/octavo-docs/octavo/schema"
)

// TestVerify verifies undamaged data, and then data with a damaged part of the events table and damaged pages of
// Postgres.
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
	verify(nil) // the verification writes all pages to the disk

	part, _ := i.part()
	i.stop()
	damageFile(t, filepath.Join(part, "data.bin"))
	found, err := filepath.Glob(filepath.Join(i.dir, "postgres", "*", page))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: no file %s: %v", err, page, found)
	}
	damageFile(t, found[0])
	i.start("--accept-loss=postgres")
	verify(map[string]int64{verifiedEvents: 1, "postgres pages": 5, verifiedTables: 1})
}

// TestLostTokens overwrites the table of tokens with zeros, which Postgres regards as empty pages. A request with a
// lost token must get a 503, and not the 401 of an unknown token. A verification must report the table.
func TestLostTokens(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	conn := i.postgres()
	var page string
	if err := conn.QueryRow(t.Context(), "select pg_relation_filepath('tokens')").Scan(&page); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	if status, answer := i.request("GET", "/v1/user", "oct_unknown", nil); status != http.StatusUnauthorized {
		t.Errorf("an unknown token: %d %s", status, answer)
	}
	i.stop()
	found, err := filepath.Glob(filepath.Join(i.dir, "postgres", "*", page))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: no file %s: %v", err, page, found)
	}
	whole, err := os.ReadFile(found[0])
	if err == nil {
		err = os.WriteFile(found[0], make([]byte, len(whole)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	i.start("--accept-loss=postgres")
	status, answer := i.request("GET", "/v1/user", i.token, nil)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "stored data is damaged") {
		t.Errorf("a token of the lost page: %d %s", status, answer)
	}
	output, err := i.octavo("verify", "--json")
	var list []schema.Verification
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || json.Unmarshal([]byte(output), &list) != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, v := range list {
		if v.Kind == verifiedTables && (v.Damaged != 1 || v.Read < 50) {
			t.Errorf("%+v: want one damaged table", v)
		}
	}
}

// TestVerificationDue checks that all kinds are verified once a week, and the small tables of Postgres once an hour.
// Results with a time in the future must be ignored.
func TestVerificationDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	var list []schema.Verification
	w := &verifyWatch{}
	if n := len(w.due(list, now)); n != len(verifications) {
		t.Errorf("nothing was verified, and %d kinds are due", n)
	}
	list = []schema.Verification{{Kind: verifiedTables, VerifiedAt: now}}
	if n := len(w.due(list, now)); n != len(verifications)-1 {
		t.Errorf("the small tables alone are verified, and %d kinds are due", n)
	}
	for _, of := range verifications {
		list = append(list, schema.Verification{Kind: of.kind, VerifiedAt: now})
	}
	for after, want := range map[time.Duration]int{
		time.Minute: 0, 2 * time.Hour: 1, 8 * 24 * time.Hour: len(verifications), -time.Hour: len(verifications),
	} {
		if due := w.due(list, now.Add(after)); len(due) != want || want == 1 && due[0].kind != verifiedTables {
			t.Errorf("after %v, %v are due, want %d kinds", after, due, want)
		}
	}
	w.began = time.Now()
	if due := w.due(nil, now); len(due) > 0 {
		t.Errorf("the node has just started, and %v are due", due)
	}
}

// TestVerificationFails verifies three kinds for ten days. The second kind always fails. The others must have results,
// and the small tables must be verified hourly. The pauses of the failing kind must grow to a day.
func TestVerificationFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken, runs := errors.New("the log does not answer"), map[string]int{}
		began := time.Now()
		w := &verifyWatch{began: began, again: map[string]*pause{}}
		results := map[string]schema.Verification{}
		for time.Since(began) < 10*24*time.Hour {
			time.Sleep(verifyLook)
			var kinds []kindOfData
			for _, of := range w.due(slices.Collect(maps.Values(results)), time.Now()) {
				of.run = func(_ *verifier, _ context.Context, f *verification) error {
					if runs[of.kind]++; of.kind == "event log" {
						return broken
					}
					f.read(1, "")
					return nil
				}
				kinds = append(kinds, of)
			}
			v := &verifier{progress: func(string, int64, int64) {}}
			list, failed := v.run(t.Context(), kinds)
			for _, of := range list {
				of.VerifiedAt = time.Now()
				results[of.Kind] = of
			}
			if err := w.ended(kinds, failed); len(failed) > 0 != errors.Is(err, broken) {
				t.Fatalf("%v: failed %v", err, failed)
			}
		}
		// The pauses are 1, 2, 4 … 1,024 minutes, and then a day.
		if n := runs["event log"]; n < 15 || n > 22 {
			t.Errorf("the failing kind was read %d times in ten days", n)
		}
		if runs["files"] != 2 || runs[verifiedTables] < 230 || len(results) != len(verifications)-1 {
			t.Errorf("the kinds were read %v", runs)
		}
	})
}

// TestVerificationPartial verifies a kind that has damage, and then an error. The result must have the damage and the
// hint, and the error must be reported too. A kind that has only an error must have no result.
func TestVerificationPartial(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk does not answer")
	kind := func(name, damage string) kindOfData {
		return kindOfData{kind: name, hint: "check the disk", run: func(
			_ *verifier, _ context.Context, f *verification,
		) error {
			f.read(1, damage)
			return broken
		}}
	}
	v := &verifier{found: func(string, string) {}, progress: func(string, int64, int64) {}}
	list, failed := v.run(t.Context(), []kindOfData{kind("damaged", "a bit"), kind("sound", "")})
	if len(list) != 1 || list[0].Kind != "damaged" || list[0].Damaged != 1 || list[0].Hint != "check the disk" {
		t.Errorf("the results are %+v", list)
	}
	if !errors.Is(failed["damaged"], broken) || !errors.Is(failed["sound"], broken) {
		t.Errorf("the errors are %v", failed)
	}
}

// TestVerifyWatch shows the results of a verification in /readyz and in a metric until a later verification finds no
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
