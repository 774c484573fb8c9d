package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplainCommand checks that the command runs a request while a server runs, and describes the request's statement.
// It must also describe a report. For an invalid request, the command must fail.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	if status, answer := i.post(i.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(2, 2)
	file := filepath.Join(t.TempDir(), "request.json")
	write := func(body string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"range":"last7Days","groupBy":[{"column":"datetime","interval":"day"}],"timezone":"Europe/Berlin"}`)
	output, err := i.octavo("explain", i.site, file)
	if err != nil {
		t.Fatal(err, output)
	}
	for _, want := range []string{"  site: " + i.site, "  zone: Europe/Berlin", "STATEMENT 1, of raw: ", "2 rows read, 1 rows", "GROUP BY d0", "Octavo-Result: exact"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in\n%s", want, output)
		}
	}
	write(`{"range":"last7Days","steps":[{},{}]}`)
	if output, err := i.octavo("explain", "--report=funnel", i.site, file); err != nil || !strings.Contains(output, "windowFunnel(") {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := i.octavo("explain", "--site", i.site, "--report=funnel", file); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := i.octavo("explain", "nosite", file); err == nil || output != "" {
		t.Errorf("a site that does not exist is explained: %v\n%s", err, output)
	}
	write(`{"range":"last7Day"}`)
	if output, err := i.octavo("explain", i.site, file); err == nil || output != "" {
		t.Errorf("a wrong request is explained:\n%s", output)
	}
}

// TestExplainArguments checks which argument is the site and which is the request's file.
func TestExplainArguments(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ site, request, known, wantSite, wantFile string }{
		{"s", "", "", "s", ""}, {"s", file, "", "s", file}, {"s", file, "other", "s", file}, {"s", "", "other", "s", ""},
		{"", "", "known", "known", ""}, {file, "", "known", "known", file}, {file, "", "", file, ""},
		{filepath.Dir(file), "", "known", filepath.Dir(file), ""},
	} {
		site, request, err := (&ExplainCmd{Site: c.site, Request: c.request, Known: c.known}).arguments()
		if err != nil || site != c.wantSite || request != c.wantFile {
			t.Errorf("%+v: %q, %q, %v", c, site, request, err)
		}
	}
	if _, _, err := (&ExplainCmd{}).arguments(); err == nil {
		t.Error("no site is named, and nothing is wrong")
	}
}
