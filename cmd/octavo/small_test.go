package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// memoryGroup is a control group with a limit of memory.
type memoryGroup struct{ dir, events, peak string }

// newMemoryGroup makes a control group below the test's root group. It skips the test if a control group cannot be
// made.
func newMemoryGroup(t *testing.T, bytes int64) memoryGroup {
	t.Helper()
	const root = "/sys/fs/cgroup"
	g := memoryGroup{filepath.Join(root, "memory"), "memory.oom_control", "memory.max_usage_in_bytes"}
	limit := "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(g.dir, limit)); err != nil {
		g = memoryGroup{root, "memory.events", "memory.peak"}
		limit = "memory.max"
		// If this write fails, the write of the limit fails too.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	g.dir = filepath.Join(g.dir, fmt.Sprintf("octavo-test-%d-%d", os.Getpid(), bytes>>20))
	err := os.Mkdir(g.dir, 0o755)
	if err == nil {
		t.Cleanup(func() { // runs after the node has ended, shortly before its engines end
			eventually.Succeeds(t, "the group to be empty", func() error { return syscall.Rmdir(g.dir) })
		})
		err = os.WriteFile(filepath.Join(g.dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0)
	}
	if err != nil {
		t.Skipf("this machine lets the test make no control group with a limit of memory: %v", err)
	}
	return g
}

// killed returns how many processes of the group the kernel has killed.
func (g memoryGroup) killed(t *testing.T) (count int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, g.events))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			if count, err = strconv.Atoi(strings.TrimSpace(number)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return count
}

// processorTime returns how much processor time the group's processes have had.
func (g memoryGroup) processorTime(t *testing.T) (sum time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond // unit of times in /proc
	pids, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(pids)) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			continue // the process has exited since then
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, field := range fields[11:13] { // processor time of the program, and of the kernel for the program
			ticks, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(ticks) * tick
		}
	}
	return sum
}

// TestSmallMachines puts a node with all engines under full load in little memory. No process is killed. All
// acknowledged events are stored a minute after the load, or after the node has used a minute of every processor. With
// 768 MiB or more, nine of ten queries are answered. `make small-machines` runs every size. `make test-long` runs only
// 512 MiB, because the share of answered queries also depends on other programs on the machine.
func TestSmallMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	sizes := []struct {
		mib      int64
		answered float64 // the least share of answered queries
	}{{512, 0}, {768, 0.9}, {1024, 0.9}}
	if os.Getenv("OCTAVO_TEST_SMALL_MACHINES") == "" {
		sizes = sizes[:1]
	}
	for _, c := range sizes {
		t.Run(fmt.Sprintf("%d MiB", c.mib), func(t *testing.T) { // one after the other, because each needs both cores
			g := newMemoryGroup(t, c.mib<<20)
			i := newIdle(t)
			i.group = g.dir
			i.start()
			l := i.loadFully(time.Minute)
			ended, before := time.Now(), g.processorTime(t)
			var stored int
			rows := i.clickHouse()
			i.until("the acknowledged events to be stored", func() error {
				var n uint64
				err := rows.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&n)
				if stored = int(n); err == nil && stored < l.acknowledged {
					err = fmt.Errorf("%d of %d events are stored", stored, l.acknowledged)
				}
				return err
			})
			took, worked, killed := time.Since(ended), g.processorTime(t)-before, g.killed(t)
			peak, err := os.ReadFile(filepath.Join(g.dir, g.peak))
			t.Logf("%d MiB: %d events acknowledged, %d posts refused; %d stored %s (processor "+
				"time %s) after the load; %d of %d queries answered; %d processes killed; refusals %v; peak %s %v",
				c.mib, l.acknowledged, l.refused, stored, took.Round(100*time.Millisecond), worked, l.answered, l.asked,
				killed, l.reasons, strings.TrimSpace(string(peak)), err)
			if l.acknowledged == 0 || l.asked == 0 {
				t.Fatal("there was no load")
			}
			if killed > 0 || strings.Contains(i.output.String(), "An engine was killed") {
				t.Errorf("the kernel killed %d processes\n%s", killed, i.output)
			}
			if worked > time.Duration(runtime.NumCPU())*time.Minute {
				t.Errorf("the events were stored %s and %s of processor time after the load", took, worked)
			}
			if stored != l.acknowledged+l.unknown && l.unknown == 0 {
				t.Errorf("%d events are stored, %d were acknowledged", stored, l.acknowledged)
			}
			if share := float64(l.answered) / float64(l.asked); share < c.answered {
				t.Errorf("%.1f %% of the queries were answered\n%v", 100*share, l.reasons)
			}
			if l.failed > 0 {
				t.Errorf("%d answers were neither 200 nor refusals: %v", l.failed, l.reasons)
			}
			i.stop()
		})
	}
}

// fullLoad has the results of the load.
type fullLoad struct {
	sync.Mutex
	acknowledged, unknown, refused int // numbers of events, of posts without an answer, and of refused posts
	// These are numbers of queries. `failed` counts the answers with a status other than 200, 400 and 503.
	asked, answered, failed int
	reasons                 map[string]int
}

// loadFully posts events and sends queries for a time span, as fast as the node answers.
func (i *instance) loadFully(span time.Duration) *fullLoad {
	i.t.Helper()
	const posters, askers, perBatch = 4, 4, 500
	l := &fullLoad{reasons: map[string]int{}}
	end := time.Now().Add(span)
	var wait sync.WaitGroup
	for n := range posters {
		wait.Go(func() {
			events := eventgen.New(eventgen.Options{Seed: uint64(n + 1), Events: 4_000_000})
			var body []byte
			for time.Now().Before(end) {
				body = events.AppendBatch(body[:0], perBatch)
				status, answer := i.send("POST", i.insights()+"/events", body)
				l.Lock()
				switch status {
				case http.StatusNoContent:
					l.acknowledged += perBatch
				case 0:
					l.unknown++
					l.reasons["post: "+answer]++
				default:
					l.refused++
					l.reasons[fmt.Sprintf("post: %d %s", status, answer)]++
				}
				l.Unlock()
			}
		})
	}
	queries := i.smallQueries()
	for n := range askers {
		wait.Go(func() {
			for k := n; time.Now().Before(end); k++ {
				status, answer := i.send("POST", i.insights()+"/events/aggregate", queries[k%len(queries)])
				l.Lock()
				l.asked++
				switch status {
				case http.StatusOK:
					l.answered++
				default:
					l.reasons[fmt.Sprintf("query: %d %s", status, answer)]++
					if status != http.StatusServiceUnavailable && status != http.StatusBadRequest {
						l.failed++
					}
				}
				l.Unlock()
			}
		})
	}
	wait.Wait()
	return l
}

// smallQueries returns queries of a dashboard. The method `send` makes them bypass the caches.
func (i *instance) smallQueries() (list [][]byte) {
	const wide = `{"range":{"from":"2000-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},`
	for _, rest := range []string{
		`"select":[{"column":"eventsCount"},{"column":"visitorsCount"}]}`,
		`"select":[{"column":"eventsCount"},{"column":"sessionsCount"}],"groupBy":[{"column":"eventType"}]}`,
		`"select":[{"column":"eventsCount"}],"groupBy":[{"column":"page"}],"limit":100}`,
		`"select":[{"column":"visitorsCount"}],"groupBy":[{"column":"visitorGeoCountry"}]}`,
		`"select":[{"column":"visitorsCount"},{"column":"sessionsCount"}],"groupBy":[{"column":"url"}],"limit":50}`,
	} {
		list = append(list, []byte(wide+rest))
	}
	return list
}

// send sends a request, and returns the status and the error message. Without an answer, the status is 0.
func (i *instance) send(method, path string, body []byte) (int, string) {
	req, err := http.NewRequestWithContext(i.t.Context(), method, i.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}, "Cache-Control": {"no-cache"},
	}
	res, err := testClient.Do(req)
	if err != nil {
		return 0, errors.Unwrap(err).Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	var refusal struct{ Error struct{ Message string } }
	_ = json.Unmarshal(text, &refusal) // an answer of 200 has no error
	return res.StatusCode, refusal.Error.Message
}
