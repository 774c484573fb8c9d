package main

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/ingest/eventgen"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   spread
	}{
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{5, 1, 3}, spread{3, 1, 5}},
		{[]float64{4, 1, 2, 9}, spread{3, 1, 9}},
	} {
		if got := spreadOf(c.values); got != c.want {
			t.Errorf("spread of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

// TestInterleaveTakesTurns checks that the ratio is the median of the rounds' ratios, and not the ratio of the medians.
func TestInterleaveTakesTurns(t *testing.T) {
	order := ""
	ours, ceiling := []float64{10, 40, 90}, []float64{20, 50, 100}
	i, j := 0, 0
	c, err := interleave(3,
		func() (float64, error) { order += "a"; i++; return ours[i-1], nil },
		func() (float64, error) { order += "b"; j++; return ceiling[j-1], nil })
	if err != nil {
		t.Fatal(err)
	}
	if order != "ababab" {
		t.Errorf("order %s", order)
	}
	if want := (spread{0.8, 0.5, 0.9}); math.Abs(c.ratio.Median-want.Median) > 1e-9 || c.ratio.Min != want.Min || c.ratio.Max != want.Max {
		t.Errorf("ratio %v, want %v", c.ratio, want)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.123456: "0.123", 12.345: "12.3", 999: "999", 1234: "1234", 12_345: "12 k", 1_234_567: "1.23 M"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) is %q, want %q", v, got, want)
		}
	}
}

func TestBudgetJudgesTheRatioOrTheValue(t *testing.T) {
	r := &report{}
	s := func(v float64) spread { return spread{v, v, v} }
	r.compare("ratio", "x", "u", compared{s(50), s(100), s(0.5)}, &budget{AtLeast: 0.6})
	r.compare("ratio", "x", "u", compared{s(120), s(100), s(1.2)}, &budget{AtMost: 1.5})
	r.add(row{What: "value", Ours: s(41), Budget: &budget{AtMost: 40}})
	r.add(row{What: "free", Ours: s(41)})
	for i, want := range []*bool{new(bool), ptr(true), new(bool), nil} {
		if got := r.Rows[i].Met; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("row %d: met is %v", i, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestReportIsSaved(t *testing.T) {
	m, err := machine.This()
	if err != nil {
		t.Fatal(err)
	}
	r := &report{Run: machine.Run{Date: "2026-11-20T10:00:00Z", Commit: "abc", Machine: m, Took: "1s"}}
	s := spread{1, 1, 1}
	r.compare("durable intake, 1 per request", "bare", "events/s", compared{s, s, s}, &budget{AtLeast: 0.6}, "a note")
	r.skip("sink", "no engines")
	path, err := r.save(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(path) != "2026-11-20-abc" {
		t.Errorf("saved as %s", path)
	}
	text, err := os.ReadFile(path + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{m.CPU, m.Kernel, "Commit abc", "| durable intake, 1 per request |", "a note", "**Not measured**: sink: no engines"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	text, err = os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(text, &back); err != nil || len(back.Rows) != 1 || *back.Rows[0].Met != true {
		t.Errorf("the JSON is %s, error %v", text, err)
	}
}

// TestPlainDecodeReadsEverything checks that decodePlain decodes every event with every member.
func TestPlainDecodeReadsEverything(t *testing.T) {
	body := eventgen.New(eventgen.Options{End: time.Unix(1.7e9, 0), Events: 20_000}).AppendBatch(nil, 20_000)
	n, err := decodePlain(body)
	if err != nil || n != 20_000 {
		t.Fatalf("decoded %d events, error %v", n, err)
	}
	var batch plainBatch
	if err := json.Unmarshal(body, &batch); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range batch.Events {
		seen["visitor"] = seen["visitor"] || e.Session.VisitorID != ""
		seen["claims"] = seen["claims"] || e.Session.VisitorAuthClaims != nil
		seen["page"] = seen["page"] || e.Location.Page != ""
		seen["query"] = seen["query"] || e.Query != ""
		seen["feedback"] = seen["feedback"] || e.Feedback != nil && e.Feedback.Comment != ""
		seen["result"] = seen["result"] || e.Result != nil
		seen["rating"] = seen["rating"] || e.Rating != 0 && e.ResponseID != ""
		seen["link"] = seen["link"] || e.Link != nil && e.Link.Target != nil
		seen["operation"] = seen["operation"] || e.Operation != nil && e.Operation.Path != ""
		seen["ad"] = seen["ad"] || e.Ad != nil && e.Ad.ZoneID != ""
		seen["placement"] = seen["placement"] || e.Placement != ""
		seen["markdown"] = seen["markdown"] || e.MarkdownSource != ""
		seen["llms"] = seen["llms"] || e.LLMSVariant != ""
	}
	for name, ok := range seen {
		if !ok {
			t.Errorf("no event has %s", name)
		}
	}
}

func TestRefusesToFloodOthers(t *testing.T) {
	for _, url := range []string{"http://example.com:8080", "http://10.0.0.1", "https://127.0.0.1:8080", "nonsense"} {
		if _, err := (&benchCmd{URL: url, Token: "t"}).rig(t.Context()); err == nil {
			t.Errorf("--url %s is accepted", url)
		}
	}
}

// program builds this command, and returns its path.
func program(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "bench")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	return path
}

// asProgram is an environment variable. If it is set, the test binary runs as the command.
const asProgram = "OCTAVO_TEST_BENCH"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestBareServer(t *testing.T) {
	first := make(chan string, 1)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), asProgram+"=1")
	c, err := startChild("bare", filepath.Join(t.TempDir(), "log"), environment, first, self, "bare")
	if err != nil {
		t.Fatal(err)
	}
	address := <-first
	body := eventgen.New(eventgen.Options{}).AppendBatch(nil, 10)
	for want, body := range map[int][]byte{http.StatusNoContent: body, http.StatusBadRequest: body[:len(body)-1]} {
		result, err := loadgen.Run(t.Context(), loadgen.Load{
			Address: address, Connections: 2, Duration: 50 * time.Millisecond, Requests: requests([][]byte{body}, address, "/any/path", "token"),
		})
		if err != nil {
			t.Fatal(err)
		}
		// The first response may come after the measured time, because sonic compiles at the first request.
		if result.All[want] == 0 || len(result.All) != 1 || result.Errors != 0 {
			t.Errorf("answers %v, %d errors; want %d only", result.All, result.Errors, want)
		}
	}
	if c.process().CPU() < 0 || c.process().Memory("VmRSS") < 1 {
		t.Errorf("the process has %g MB", c.process().Memory("VmRSS"))
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
}

// TestQuickQueries creates small tables and measures some queries of a dashboard in every part. It runs the command
// twice. The second run must use the tables of the first run.
func TestQuickQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: make bench-quick")
	}
	_ = enginetest.ClickHouse(t) // skips without engines
	bench, data, out := program(t), t.TempDir(), t.TempDir()
	run := func(arguments ...string) report {
		t.Helper()
		arguments = append([]string{
			"--quick", "--rows", "query", "--data", data, "--events", "2000,4000", "--hot", "20000",
			"--clients", "2", "--rounds", "1", "--out", out,
		}, arguments...)
		if text, err := exec.CommandContext(t.Context(), bench, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return saved(t, out)
	}
	made := func(x row) bool { return strings.HasSuffix(x.What, "made") }
	if r := run("--only", "build"); len(r.Rows) != 4 || !slices.ContainsFunc(r.Rows, made) {
		t.Errorf("rows of making the tables: %+v", r.Rows)
	}
	r := run()
	if slices.ContainsFunc(r.Rows, made) {
		t.Error("the tables were made twice")
	}
	for _, want := range []string{"2000 events, warm: all of it: p95", "4000 events, warm: one client, all of it, p95", "4000 events, warm: small answers, p50 over the bare statement's",
		"20 k events of a day, 24 hours: bounceRate, worst dimension",
		"20 k events of a day, 30 days: sessionDuration by entry or exit page, worst dimension",
		"4000 events, warm: 2 clients, all of it, p95", "4000 events: intake beside 2 clients, p99", "4000 events, cold: all of it: p95"} {
		if !slices.ContainsFunc(r.Rows, func(x row) bool { return x.What == want }) {
			t.Errorf("there is no row %q", want)
		}
	}
	for _, x := range r.Rows {
		if strings.HasSuffix(x.What, "errors") && x.Ours.Max > 0 {
			t.Errorf("%s: %+v", x.What, x)
		}
	}
}

// TestQuickRun measures all rows briefly on real engines. It checks only that the rows can be measured, and not the
// figures.
func TestQuickRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: make bench-quick")
	}
	_ = enginetest.ClickHouse(t) // skips without engines
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(t), "--quick", "--out", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r := saved(t, out)
	if len(r.Rows) != 23 || len(r.Skipped) != 0 {
		t.Errorf("%d rows, skipped %v; want 23 and none", len(r.Rows), r.Skipped)
	}
	for _, x := range r.Rows {
		if !(x.Ours.Median > 0) || x.Ratio != nil && !(x.Ratio.Median > 0) {
			t.Errorf("%s: %+v", x.What, x)
		}
	}
}

// saved reads the only report in a folder.
func saved(t *testing.T, dir string) (r report) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("results %v, error %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}
