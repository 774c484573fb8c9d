package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// TestDashboardQueries lets a node answer every kind of batch that the dashboard asks: each range, comparison, group of
// visitors and filter. The totals are what was sent.
func TestDashboardQueries(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "batches.mjs")
	built := esbuild.Build(esbuild.BuildOptions{
		EntryPoints: []string{"../../api/dashboard/testdata/batches.ts"}, Outfile: program, Bundle: true, Write: true,
		Platform: esbuild.PlatformNode, Format: esbuild.FormatESModule,
	})
	if len(built.Errors) > 0 {
		t.Fatalf("%s (make dashboard)", built.Errors[0].Text)
	}
	batches, err := exec.CommandContext(t.Context(), "node", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	i := newAttached(t)
	if status, answer := i.post(i.token, pageView("a"), pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(3, 2)
	first := true
	for batch := range bytes.Lines(batches) {
		status, text := i.request("POST", i.insights()+"/batch", i.token, batch)
		var answer struct {
			Queries map[string]struct {
				Status int
				Answer struct {
					Columns []struct {
						Column string
						Values []any
					}
					Error struct{ Message string }
				}
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil || status != 200 || len(answer.Queries) < 3 {
			t.Fatalf("%s: %d %s", batch, status, text)
		}
		for name, query := range answer.Queries {
			if query.Status != 200 {
				t.Errorf("%s of %s: %d %s", name, batch, query.Status, query.Answer.Error.Message)
			}
		}
		if !first {
			continue
		}
		first = false
		for name, want := range map[string]float64{"people": 2, "views": 3, "reads": 0} {
			if got := answer.Queries[name].Answer.Columns[0].Values[0]; got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}
