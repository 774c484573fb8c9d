package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
)

// agentLists serves valid lists of two sets, and invalid lists of the other sets. It returns the URL of each set's
// list.
func agentLists(t *testing.T) map[string]string {
	t.Helper()
	from := map[string]string{}
	answers := map[string]string{
		"openai-gptbot": `{"creationTime":"2026-01-02","prefixes":[{"ipv4Prefix":"192.0.2.0/25"},{"ipv6Prefix":"2001:db8:1::/48"}]}`,
		"bingbot":       `{"prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}`,
		"openai-search": `<html>`,
		"openai-user":   `{"prefixes":[]}`,
		"googlebot":     `{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}`,
		"google-user":   `{"prefixes":[{"ipv4Prefix":"192.0.2.77/25"}]}`,
		"anthropic":     `{"prefixes":[{"ipv4Prefix":"10.0.0.0/16"}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		say(w, "%s", answer)
	}))
	t.Cleanup(server.Close)
	for _, s := range agentlist.EmbeddedRanges().Sets() {
		from[s.Name] = server.URL + "/" + s.Name
	}
	return from
}

// TestAgentsUpdate fetches lists. If a list is invalid, its set still has the old networks, and the command fails.
func TestAgentsUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settings := Settings{DataDir: dir, OutboundAllow: []string{outboundtest.Loopback}}
	c := AgentsUpdateCmd{Settings: settings, From: agentLists(t)}
	var out bytes.Buffer
	err := c.run(t.Context(), &out)
	if err == nil || err.Error() != "8 of 10 lists of published addresses could not be fetched" {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"openai-gptbot: fetched\n", "bingbot: fetched\n",
		"openai-search: kept as it was: the list is not JSON of the usual form",
		"openai-user: kept as it was: the list has no networks\n",
		"googlebot: kept as it was: the list has 0.0.0.0/0, which is larger than any operator's network\n",
		"google-user: kept as it was: the list has 192.0.2.77/25, which is not the start of a network\n",
		"anthropic: kept as it was: the list has 10.0.0.0/16, which is not of the public internet\n",
		"perplexity-bot: kept as it was: the answer of ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	var listed []agentlist.Published
	var text bytes.Buffer
	list := AgentsListCmd{Settings: settings, listFlags: listFlags{JSON: true}}
	if err := list.print(&text); err != nil || json.Unmarshal(text.Bytes(), &listed) != nil {
		t.Fatalf("%v: %s", err, &text)
	}
	embedded := agentlist.EmbeddedRanges().Sets()
	today := time.Now().UTC().Format(time.DateOnly)
	for i, s := range listed {
		want := embedded[i]
		switch want.Name {
		case "openai-gptbot":
			want.Networks, want.Date = 2, today
		case "bingbot":
			want.Networks, want.Date = 1, today
		}
		if s != want {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, "agents")); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

// TestAgentsUpdateIsGuarded checks that the command cannot reach a private network without the operator's setting. If
// all requests are refused, the command writes no file.
func TestAgentsUpdateIsGuarded(t *testing.T) {
	t.Parallel()
	settings := Settings{DataDir: filepath.Join(t.TempDir(), "none")}
	var out bytes.Buffer
	c := AgentsUpdateCmd{Settings: settings, From: agentLists(t)}
	if err := c.run(t.Context(), &out); err == nil || strings.Contains(out.String(), "fetched") {
		t.Errorf("%v\n%s", err, &out)
	}
	c.From = map[string]string{"nobody": "https://example.com/"}
	if err := c.run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), `no set "nobody"`) {
		t.Error(err)
	}
	if err := (&AgentsListCmd{Settings: settings}).print(&out); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(settings.DataDir); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
}

// TestAgentsFollower checks that a node uses new addresses. While the file is damaged, it uses the previous addresses.
func TestAgentsFollower(t *testing.T) {
	t.Parallel()
	settings := &Settings{DataDir: t.TempDir()}
	var used []*agentlist.Ranges
	use := func(r *agentlist.Ranges) { used = append(used, r) }
	f := agentsFollower{settings: settings, use: use, log: slog.New(slog.DiscardHandler)}
	changed := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		if err := replaceFile(agentsFile(settings), []byte(text)); err != nil {
			t.Fatal(err)
		}
		changed = changed.Add(time.Minute)
		if err := os.Chtimes(agentsFile(settings), changed, changed); err != nil {
			t.Fatal(err)
		}
		f.look()
		f.look()
	}
	f.look()
	if len(used) != 0 {
		t.Fatal("addresses without a file")
	}
	networks := []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	fresh, err := agentlist.EmbeddedRanges().With("bingbot", networks, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(fresh.String())
	write("set\tbingbot\t")
	write(fresh.String() + "# again\n")
	if len(used) != 2 || used[0].String() != fresh.String() || used[1].String() != fresh.String() {
		t.Errorf("%d times", len(used))
	}
}
