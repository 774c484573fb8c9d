package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// TestDashboardQueries sends every kind of batch that the dashboard sends: each range, comparison, group of visitors
// and filter. The totals equal the sent events.
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
	more := func(members string) string { return strings.Replace(pageView("b"), `"type":"page_view"`, members, 1) }
	if status, answer := i.post(i.token, pageView("a"), pageView("a"), pageView("b"),
		more(`"type":"search_type_query","query":"x","resultsCount":0`),
		more(`"type":"search_type_query","query":"xy","resultsCount":3`),
		more(`"type":"search_open_result","query":"xy","result":{"recordId":"https://docs.example.com/a/?q#b"}`),
		more(`"type":"ask_question","query":"why?"`),
		more(`"type":"page_post_feedback","feedback":{"rating":"good"}`),
		`{"type":"page_view","session":{"visitorId":"b","sessionId":"s","referrer":"https://chatgpt.com/"},
			"location":{"url":"https://docs.example.com/?utm_campaign=spring","title":"Home"}}`,
		`{"type":"page_view","session":{"visitorId":"g","sessionId":"s","userAgent":"GPTBot/1.2"},
			"location":{"url":"https://docs.example.com/gone","status":404}}`,
	); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(10, 3)
	// want has the expected values by the names of queries. A value is the first value in the query's answer. If
	// several batches have the query, the test compares only the first of these batches. The first of all batches is
	// about people in the last seven days.
	want := map[string]any{
		"people": 2.0, "views": 4.0, "reads": 1.0, "typed": 2.0, "missed": 1.0, "results": 1.0, "asked": 1.0,
		"searches": "x", "ledHere": "xy", "titles": "/", "questions": "why?", "pages": "/", "feedback": "/",
		"addresses": "/", "list": 4.0,
		"everyone": 5.0, "gone": 1.0, "sent": 1.0, "fromSearch": 0.0, "agents": "OpenAI", "programs": "gptbot",
		"kinds": "training", "agentPages": "/gone", "missing": "/gone", "forms": "html", "verified": "claimed",
		"broken": 1.0, "statuses": 404.0, "brokenAgents": "OpenAI", "bad": 0.0, "written": 0.0, "clicks": 0.0,
		"worstRated": "/", "ratedPages": "/", "doors": "api", "all": 9.0,
		"sentBy": "ChatGPT", "channels": "direct", "referrers": "chatgpt.com", "landing": "/", "campaigns": "spring",
	}
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
					Items []struct{ Metrics map[string]any }
					Error struct{ Message string }
				}
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil || status != 200 || len(answer.Queries) == 0 {
			t.Fatalf("%s: %d %s", batch, status, text)
		}
		for name, query := range answer.Queries {
			if query.Status != 200 {
				t.Errorf("%s of %s: %d %s", name, batch, query.Status, query.Answer.Error.Message)
			}
		}
		for name, query := range answer.Queries {
			value, known := want[name]
			if !known {
				continue
			}
			delete(want, name)
			var got any
			switch a := query.Answer; {
			case len(a.Items) > 0:
				got = a.Items[0].Metrics["eventsCount"]
			case len(a.Columns) > 0 && len(a.Columns[0].Values) > 0:
				got = a.Columns[0].Values[0]
			}
			if got != value {
				t.Errorf("%s: %v, want %v", name, got, value)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no batch asks %v", want)
	}
}
