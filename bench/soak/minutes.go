package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/product"
)

// `intake`, `dashboards`, `growing` and `editors` name the kinds of requests whose response times are recorded.
// `growing` has requests that read all events of the run.
const (
	intake     = "intake"
	dashboards = "dashboards"
	growing    = "growing"
	editors    = "editors"
)

// recorder has what the workers recorded since the last minute, and the minutes before.
type recorder struct {
	sent  atomic.Int64  // number of acknowledged events
	every time.Duration // time of a row

	mu      sync.Mutex
	times   map[string][]time.Duration
	minutes []minute
}

func (r *recorder) took(kind string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[kind] = append(r.times[kind], d)
}

// timed calls f and records its time.
func (r *recorder) timed(kind string, f func() error) error {
	began := time.Now()
	err := f()
	if err == nil {
		r.took(kind, time.Since(began))
	}
	return err
}

// pause waits for the duration. It returns false if ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(max(d, 0)):
		return ctx.Err() == nil
	}
}

// minute has the figures of one row, in the order of columns.
type minute []float64

// column is a figure of each minute. If `noise` is not 0, the figure must not grow: `noise` is the growth that is
// allowed beyond the greatest figure of the second fifth, in the figure's unit.
type column struct {
	name  string
	noise float64
	of    func(look) float64
}

// look has what a column reads at the end of a minute.
type look struct {
	times  map[string][]time.Duration
	sent   int64
	groups map[string][]machine.Process
	disk   float64 // bytes of the data directory
	gauges map[string]float64
}

var columns = []column{
	{"events, millions", 0, func(l look) float64 { return float64(l.sent) / 1e6 }},
	{"intake p50, ms", 2, quantileOf(intake, 0.5)},
	{"intake p99, ms", 50, quantileOf(intake, 0.99)},
	{"dashboards p50, ms", 25, quantileOf(dashboards, 0.5)},
	{"dashboards p95, ms", 100, quantileOf(dashboards, 0.95)},
	{"editors p50, ms", 5, quantileOf(editors, 0.5)},
	{"editors p95, ms", 50, quantileOf(editors, 0.95)},
	{"queries of all events p95, ms", 0, quantileOf(growing, 0.95)},
	{"node, MB", 16, memoryOf("node")},
	{"store, MB", 64, memoryOf("clickhouse")},
	{"broker, MB", 16, memoryOf("kafka")},
	{"Postgres, MB", 16, memoryOf("postgres")},
	{"goroutines", 50, func(l look) float64 { return l.gauges["go_goroutines"] }},
	{"threads", 16, func(l look) float64 { return l.sum(machine.Process.Threads) }},
	{"open files", 64, func(l look) float64 { return l.sum(machine.Process.Files) }},
	{"data, MB", 0, func(l look) float64 { return l.disk / 1e6 }},
}

func quantileOf(kind string, q float64) func(look) float64 {
	return func(l look) float64 {
		sorted := slices.Sorted(slices.Values(l.times[kind]))
		if len(sorted) == 0 {
			return 0
		}
		return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Microseconds()) / 1000
	}
}

func memoryOf(group string) func(look) float64 {
	return func(l look) (sum float64) {
		for _, p := range l.groups[group] {
			sum += p.Share()
		}
		return sum
	}
}

func (l look) sum(of func(machine.Process) int) (sum float64) {
	for _, group := range l.groups {
		for _, p := range group {
			sum += float64(of(p))
		}
	}
	return sum
}

// sample records a row after each minute, until ctx is done.
func (r *recorder) sample(ctx context.Context, p *place, began time.Time) error {
	fmt.Println(header())
	for pause(ctx, time.Until(began.Add(time.Duration(len(r.minutes)+1)*r.every))) {
		if err := r.record(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// record records a row of the table, and prints it.
func (r *recorder) record(ctx context.Context, p *place) error {
	l, err := p.look(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	l.times, r.times = r.times, map[string][]time.Duration{}
	r.mu.Unlock()
	l.sent = r.sent.Load()
	var m minute
	for _, c := range columns {
		m = append(m, c.of(l))
	}
	r.minutes = append(r.minutes, m)
	fmt.Println(m.row(len(r.minutes)))
	return nil
}

// look reads the node's processes, metrics and data directory.
func (p *place) look(ctx context.Context) (look, error) {
	l := look{groups: map[string][]machine.Process{}, gauges: map[string]float64{}}
	node := machine.Process(p.PID())
	l.groups["node"] = []machine.Process{node}
	children, err := node.Descendants()
	if err != nil {
		return l, err
	}
	for _, child := range children {
		group := groupOf(child.Command())
		l.groups[group] = append(l.groups[group], child)
	}
	text, err := p.admin.Read(context.WithoutCancel(ctx), "/metrics")
	if err != nil {
		return l, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), " "); found {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				l.gauges[name] = v
			}
		}
	}
	// Files disappear while the folder is read. Their sizes do not count.
	_ = filepath.WalkDir(p.Dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if about, err := entry.Info(); err == nil {
				l.disk += float64(about.Size())
			}
		}
		return nil
	})
	return l, nil
}

// groupOf returns the engine of a process by its command line.
func groupOf(line []string) string {
	switch {
	case len(line) > 2 && line[1] == "engine":
		return line[2]
	case len(line) > 0 && strings.HasPrefix(filepath.Base(line[0]), "postgres"):
		return "postgres"
	default:
		return "others"
	}
}

// counted waits until queries find exactly the acknowledged events.
func (p *place) counted(ctx context.Context, sent int64) error {
	const all = `{"range":{"from":"2000-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},` +
		`"select":[{"column":"eventsCount"}]}`
	for end := time.Now().Add(time.Minute); ; {
		var found int64
		for _, site := range p.sites {
			var a struct{ Columns []struct{ Values []int64 } }
			path := product.Insights(p.org, site) + "/events/aggregate"
			if err := p.Client.Call(ctx, http.MethodPost, path, []byte(all), http.StatusOK, &a); err != nil {
				return err
			}
			if len(a.Columns) == 1 && len(a.Columns[0].Values) == 1 {
				found += a.Columns[0].Values[0]
			}
		}
		if found == sent {
			fmt.Printf("%d events acknowledged, %d stored\n", sent, found)
			return nil
		}
		if found > sent || time.Now().After(end) {
			return fmt.Errorf("%d events acknowledged, %d stored", sent, found)
		}
		if !pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}
