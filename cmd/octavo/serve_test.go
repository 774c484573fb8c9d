package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
	"github.com/octavo-docs/octavo/ingest/eventgen"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestReadmeSession checks that the README's first session works as printed there.
func TestReadmeSession(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	session := documentSession(t, "README.md", ". data/quickstart.env     #")
	run := func() string { return i.shell(session) }
	if first := run(); !strings.Contains(first, `"object":"user"`) || !strings.Contains(first, "\n204\n") {
		t.Fatalf("the README's session shows no user or no 204:\n%s", first)
	}
	i.wantCounts(2, 2)
	// On a busy machine an answer may take long, and it is then cached for ten times its duration.
	i.until("the README's aggregate to show the events", func() error {
		if again := run(); !strings.Contains(again, `"page_view"`) || !strings.Contains(again, `"search_type_query"`) {
			return errors.New(again)
		}
		return nil
	})
	// The server prints the same commands. It does not print the token, because its output is not a terminal. If the
	// output is a file, the file would contain the token.
	if file := filepath.Join(i.dir, "quickstart.env"); strings.Contains(i.output.String(), i.token) || !strings.Contains(i.output.String(), "\n. "+file+"\n") {
		t.Errorf("the server should print where its token is, %s, and not the token:\n%s", file, i.output)
	}
	commands := strings.Split(strings.TrimSpace(session), "\n\n")[1:]
	for _, command := range commands {
		if !strings.Contains(i.output.String(), "\n"+command+"\n") {
			t.Errorf("the server did not print\n%s\nbut\n%s", command, i.output)
		}
	}
	if len(commands) != 3 {
		t.Errorf("the README's session has %d commands, want 3", len(commands))
	}
}

// shell runs commands in the folder that has the server's data directory.
func (i *instance) shell(commands string, env ...string) string {
	i.t.Helper()
	cmd := exec.CommandContext(i.t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = filepath.Dir(i.dir), append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		i.t.Fatalf("the document's session fails: %v\n%s", err, output)
	}
	return string(output)
}

// TestRestartKeepsEverything checks that organizations, tokens and events survive a restart, even events that were
// acknowledged just before it.
func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	i := newInstance(t, "OCTAVO_BOOTSTRAP_TOKEN=a-token-of-our-own")
	if i.token != "a-token-of-our-own" {
		t.Fatalf("the first token is %q, not the one that OCTAVO_BOOTSTRAP_TOKEN asked for", i.token)
	}
	const events = 300
	for n := range events {
		if status, answer := i.post(i.token, pageView(fmt.Sprint(n))); status != 204 {
			t.Fatalf("post: %d %s", status, answer)
		}
	}
	before := [3]string{i.token, i.org, i.site}
	i.stop()
	i.start()
	if after := [3]string{i.token, i.org, i.site}; after != before {
		t.Fatalf("the second start created new resources: %v, before: %v", after, before)
	}
	if status, answer := i.request("GET", "/v1/orgs/"+i.org+"/sites/"+i.site, i.token, nil); status != 200 {
		t.Fatalf("the site is gone: %d %s", status, answer)
	}
	i.wantCounts(events, events)

	// kill -9 of the whole server loses nothing that was acknowledged.
	if status, answer := i.post(i.token, pageView("last")); status != 204 {
		t.Fatalf("post: %d %s", status, answer)
	}
	i.kill()
	i.start()
	i.wantCounts(events+1, events+1)
}

// TestEnginesKilled kills each engine under load. The engine restarts, and every acknowledged event is stored once.
func TestEnginesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	i := newInstance(t)
	var acknowledged atomic.Int64
	var stop atomic.Bool
	var posters sync.WaitGroup
	for poster := range 4 {
		posters.Go(func() {
			for n := 0; !stop.Load(); n++ {
				// Each attempt has a different visitor. So a test can distinguish an event that was stored without an
				// answer from an event that was stored twice.
				if status, _ := i.post(i.token, pageView(fmt.Sprintf("%d-%d", poster, n))); status == 204 {
					acknowledged.Add(1)
				}
			}
		})
	}
	for _, name := range []string{"clickhouse", "kafka", "postgres"} {
		goal := acknowledged.Load() + 50
		i.until("load", func() error {
			if acknowledged.Load() < goal {
				return fmt.Errorf("%d of %d acknowledged", acknowledged.Load(), goal)
			}
			return nil
		})
		pid := i.engine(name)
		if pid == 0 {
			t.Fatalf("no process of %s\n%s", name, i.output)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		i.until(name+" again", func() error {
			now := i.engine(name)
			if now == 0 || now == pid {
				return fmt.Errorf("its process is %d, was %d", now, pid)
			}
			if status, body := i.request("GET", "/readyz", "", nil); status != 200 {
				return fmt.Errorf("readyz answers %d %s", status, body)
			}
			return nil
		})
		// The supervisor pings less often than the node does.
		i.until("metrics of "+name, func() error {
			metrics := i.metrics()
			for _, line := range []string{"restarts_total{engine=%q} 1\n", "up{engine=%q} 1\n", "memory_bytes{engine=%q} "} {
				if want := fmt.Sprintf("octavo_engine_"+line, name); !strings.Contains(metrics, want) {
					return fmt.Errorf("no %s", want)
				}
			}
			return nil
		})
	}
	stop.Store(true)
	posters.Wait()
	i.until("everything acknowledged, once", func() error {
		got, err := i.aggregate(`{"range":"last24Hours","select":[{"column":"eventsCount"},{"column":"visitorsCount"}]}`)
		if err != nil {
			return err
		}
		events, visitors := int64(got["eventsCount"][0].(float64)), int64(got["visitorsCount"][0].(float64))
		// An event may be stored although its answer was lost with the broker. But no visitor may have two events.
		if events < acknowledged.Load() || events != visitors {
			return fmt.Errorf("%d events of %d visitors are stored, %d were acknowledged", events, visitors, acknowledged.Load())
		}
		return nil
	})
}

// TestEveryEventType checks that events of every type can be queried by type, with all of their members.
func TestEveryEventType(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	generator := eventgen.New(eventgen.Options{Seed: 1, Events: 4000})
	var body []byte
	sent := map[any]any{} // number of sent events, by type
	for range 8 {
		body = generator.AppendBatch(body[:0], 500)
		var batch struct{ Events []struct{ Type string } }
		if err := json.Unmarshal(body, &batch); err != nil {
			t.Fatal(err)
		}
		for _, event := range batch.Events {
			n, _ := sent[event.Type].(float64)
			sent[event.Type] = n + 1
		}
		if status, answer := i.request("POST", i.insights()+"/events", i.token, body); status != 204 {
			t.Fatalf("post: %d %s", status, answer)
		}
	}
	wide := `{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},`
	i.until("4000 events of all types", func() error {
		got, err := i.aggregate(wide + `"groupBy":[{"column":"eventType"}]}`)
		if err != nil {
			return err
		}
		stored := map[any]any{}
		for row, kind := range got["eventType"] {
			stored[kind] = got["eventsCount"][row]
		}
		if len(sent) != len(insights.EventTypes.Words()) || !maps.Equal(stored, sent) {
			return fmt.Errorf("%v are stored, %v were sent", stored, sent)
		}
		return nil
	})
	i.wantTotals(wide, generator.Totals())
	for _, c := range insights.Columns() {
		if !c.Has(insights.Group) {
			continue
		}
		extra := ""
		if c.Extra != nil && c.Extra.Required {
			extra = `,"` + c.Extra.Name + `":"plan"`
		}
		if _, err := i.aggregate(wide + fmt.Sprintf(`"groupBy":[{"column":%q%s}]}`, c.Name, extra)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if status, answer := i.request("GET", i.insights()+"/visitor-segments", i.token, nil); status != 200 || !strings.Contains(string(answer), `"claims"`) {
		t.Errorf("visitor segments: %d %s", status, answer)
	}
}

// wantTotals compares answers about all events with their generator's totals.
func (i *instance) wantTotals(wide string, want eventgen.Totals) {
	i.t.Helper()
	ask := func(rest string) map[string][]any {
		i.t.Helper()
		got, err := i.aggregate(wide + rest)
		if err != nil {
			i.t.Fatal(err)
		}
		return got
	}
	classes := ask(`"groupBy":[{"column":"agentClass"}],` +
		`"select":[{"column":"agentClass"},{"column":"eventsCount"},{"column":"visitorsCount"}]}`)
	events, visitors := map[string]int{}, map[string]int{}
	for row, class := range classes["agentClass"] {
		word, _ := class.(string)
		events[word] = int(classes["eventsCount"][row].(float64))
		visitors[word] = int(classes["visitorsCount"][row].(float64))
	}
	if !maps.Equal(events, want.Classes) || !maps.Equal(visitors, want.Visitors) {
		i.t.Errorf("by class %v events of %v visitors, want %v of %v", events, visitors, want.Classes, want.Visitors)
	}
	results := ask(`"groupBy":[{"column":"eventSearchResultPage"}],` +
		`"where":[{"column":"eventType","values":["search_open_result"]}]}`)
	opened := map[[2]string]int{} // the key of events without a page has empty texts
	for row, value := range results["eventSearchResultPage"] {
		page, _ := value.(map[string]any)
		space, _ := page["space"].(string)
		id, _ := page["page"].(string)
		opened[[2]string{space, id}] = int(results["eventsCount"][row].(float64))
	}
	records := opened[[2]string{}]
	delete(opened, [2]string{})
	if !maps.Equal(opened, want.Opened) || records != want.Records || len(opened) == 0 {
		i.t.Errorf("results of %v and %d records were opened, want %v and %d",
			opened, records, want.Opened, want.Records)
	}
	for name, c := range map[string]struct {
		request string
		want    any
	}{
		"searches":                  {`"select":[{"column":"eventsCount"}],"where":[{"column":"searchResults","operator":"greaterThanOrEqual","values":[0]}]}`, want.Searches},
		"searches without a result": {`"select":[{"column":"eventsCount"}],"where":[{"column":"searchResults","values":[0]}]}`, want.NoResult},
		"not found":                 {`"select":[{"column":"eventsCount"}],"where":[{"column":"httpStatus","values":[404]}]}`, want.NotFound},
		"people":                    {`"select":[{"column":"visitorsCount"}],"where":[{"column":"agentClass","values":["person"]}]}`, want.Visitors["person"]},
		"people by bot":             {`"select":[{"column":"visitorsCount"}],"where":[{"column":"visitorBot","values":[""]}]}`, want.Visitors["person"]},
		"pages left":                {`"select":[{"column":"eventsCount"}],"where":[{"column":"engagedSeconds","operator":"notIn","values":[null]}]}`, want.Engaged.Number},
		"with a depth":              {`"select":[{"column":"eventsCount"}],"where":[{"column":"scrollDepth","operator":"lessThanOrEqual","values":[100]}]}`, want.Depth.Number},
		"engaged time":              {`"select":[{"column":"engagedTime"}]}`, want.Engaged.Value()},
		"depth":                     {`"select":[{"column":"meanScrollDepth"}]}`, want.Depth.Value()},
	} {
		for _, values := range ask(c.request) {
			if len(values) != 1 || fmt.Sprint(values[0]) != fmt.Sprint(c.want) {
				i.t.Errorf("%s: %v, want %v", name, values, c.want)
			}
		}
	}
}

// TestBadBatchStoresNothing checks that the server refuses a whole request if one of its events is invalid. No event of
// the request may be stored.
func TestBadBatchStoresNothing(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	status, answer := i.post(i.token, pageView("a"), `{"type":"page_view","session":{"visitorId":"b"},"location":{"url":"https://docs.example.com/"}}`)
	if status != 400 || !strings.Contains(string(answer), "events[1].session.sessionId") {
		t.Fatalf("a bad event: %d %s", status, answer)
	}
	if status, answer := i.post(i.token, pageView("c"), pageView("d")); status != 204 {
		t.Fatalf("good events: %d %s", status, answer)
	}
	// The two events of the second request are stored after the first request was handled. If an event of the first
	// request had been stored, the counts would differ.
	i.wantCounts(2, 2)
}

// TestClearErrors checks that the error of a failed start names the setting to change.
func TestClearErrors(t *testing.T) {
	t.Parallel()
	engines := sharedEngines(t, 1)
	i := newInstance(t, engines...)
	inUse := t.TempDir()
	lock, err := dirlock.Acquire(t.Context(), inUse, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	attached := func(env ...string) []string { return append(slices.Clone(engines), env...) }
	const nowhere = "postgres://127.0.0.1:1/none?connect_timeout=2"
	listen := "OCTAVO_LISTEN=" + enginetest.Address(t)
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"data directory in use": {[]string{"OCTAVO_DATA_DIR=" + inUse, listen}, "OCTAVO_DATA_DIR"},
		"address in use":        {attached("OCTAVO_LISTEN=" + i.listen), "OCTAVO_LISTEN"},
		"admin address in use":  {attached(listen, "OCTAVO_ADMIN_LISTEN="+i.admin), "OCTAVO_ADMIN_LISTEN"},
		"short session":         {[]string{"OCTAVO_SINK_SESSION_TIMEOUT=1s"}, "OCTAVO_SINK_SESSION_TIMEOUT"},
		"no pause":              {[]string{"OCTAVO_SINK_PAUSE=1ms"}, "OCTAVO_SINK_PAUSE"},
		"long pause":            {[]string{"OCTAVO_SINK_PAUSE=2m"}, "OCTAVO_SINK_PAUSE"},
		"unknown role":          {[]string{"OCTAVO_ROLES=cook"}, "OCTAVO_ROLES"},
		"bad token":             {attached(listen, "OCTAVO_BOOTSTRAP_TOKEN=short"), "OCTAVO_BOOTSTRAP_TOKEN"},
		"no Postgres there":     {attached("OCTAVO_POSTGRES_URL=" + nowhere), "Postgres"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(enginetest.Octavo(t), "serve")
			cmd.Env = append(os.Environ(), "OCTAVO_ENGINES_DIR="+enginesDir(t), "OCTAVO_DATA_DIR="+t.TempDir())
			cmd.Env = append(cmd.Env, c.env...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
			timer := time.AfterFunc(eventually.Patience, func() { _ = cmd.Process.Kill() })
			output, err := cmd.CombinedOutput()
			timer.Stop()
			// A process that had to be killed has a negative exit code.
			if err == nil || cmd.ProcessState.ExitCode() < 0 || !strings.Contains(string(output), c.want) {
				t.Fatalf("want an error that names %s, got %v:\n%s", c.want, err, output)
			}
		})
	}
}

// TestRoles checks that a node without the role api serves health and metrics, and that its sink stores events that
// another node accepted. The two nodes share engines that their settings name.
func TestRoles(t *testing.T) {
	t.Parallel()
	engines := sharedEngines(t, 2)
	front := newInstance(t, append(engines, "OCTAVO_ROLES=api")...)
	if status, answer := front.post(front.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("post: %d %s", status, answer)
	}
	back := newInstance(t, append(engines, "OCTAVO_ROLES=sink")...)
	front.wantCounts(2, 2)
	if status, _ := back.request("GET", "/v1/user", front.token, nil); status != 404 {
		t.Errorf("a node without the role api answers an operation: %d", status)
	}
	stored := fmt.Sprintf("octavo_site_events_total{outcome=%q,site=%q} 2", "stored", front.site)
	back.until("its sink to have stored them", func() error {
		if metrics := back.metrics(); !strings.Contains(metrics, stored) {
			return errors.New("its metrics do not show the stored event")
		}
		return nil
	})
	back.stop()
	front.stop()
}
