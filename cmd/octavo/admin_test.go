package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestOperatorsListener checks that the operators' pages are served only on the operators' listener, and show no
// secret.
func TestOperatorsListener(t *testing.T) {
	t.Parallel()
	i := newAttached(t, "OCTAVO_BOOTSTRAP_TOKEN=a-token-of-our-own")
	for path, want := range map[string]string{
		"/metrics": "octavo_query_running", "/version": `"version"`, "/healthz": `"alive":true`, "/readyz": `"ready":true`,
		"/debug/pprof/goroutine?debug=1": "goroutine profile",
	} {
		status, text := i.requestAt("http://"+i.admin, "GET", path, "", nil)
		if status != 200 || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
		if strings.Contains(string(text), i.token) {
			t.Errorf("%s shows a token", path)
		}
		if strings.HasSuffix(path, "z") {
			continue
		}
		var refusal struct{ Error struct{ Code int } }
		status, text = i.request("GET", path, i.token, nil)
		if status != 404 || json.Unmarshal(text, &refusal) != nil || refusal.Error.Code != 404 {
			t.Errorf("%s for clients: %d %.300s", path, status, text)
		}
	}
	for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/", "/v1/user"} {
		if status, text := i.requestAt("http://"+i.admin, "GET", path, i.token, nil); status != 404 {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
	}
	if said := i.output.String(); !strings.Contains(said, "http://"+i.admin+"/metrics") {
		t.Errorf("the start-up output does not name the operators' listener: %s", said)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	output, err := exec.Command(enginetest.Octavo(t), "version").Output()
	var got build
	if err != nil || json.Unmarshal(output, &got) != nil || got.Version == "" || got.Go == "" {
		t.Errorf("%v: %s", err, output)
	}
}
