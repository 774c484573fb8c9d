package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/observe"
)

// recorder is a Registerer that remembers its collectors.
type recorder struct {
	prometheus.Registerer
	seen []prometheus.Collector
}

func (r *recorder) Register(c prometheus.Collector) error {
	r.seen = append(r.seen, c)
	return r.Registerer.Register(c)
}

func (r *recorder) MustRegister(list ...prometheus.Collector) {
	for _, c := range list {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}

// described is the regular expression that parses the printed form of a metric's description, because client_golang has
// no other access to the description.
var described = regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", (?:unit: "[^"]*", )?constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}`)

// metrics writes the document that lists every metric that the server registers.
func metrics(b *bytes.Buffer) error {
	r := &recorder{Registerer: prometheus.NewRegistry()}
	if _, err := observe.New(r); err != nil {
		return err
	}
	var lines []string
	for _, c := range r.seen {
		descriptions := make(chan *prometheus.Desc, 16)
		c.Describe(descriptions)
		close(descriptions)
		for d := range descriptions {
			m := described.FindStringSubmatch(d.String())
			if m == nil {
				return fmt.Errorf("a metric's description has an unexpected form: %s", d)
			}
			labels := ""
			if m[3] != "" {
				labels = "`" + strings.ReplaceAll(m[3], ",", "`, `") + "`"
			}
			lines = append(lines, fmt.Sprintf("| `%s` | %s | %s | %s |\n", m[1], kindOf(c, m[1]), labels, cellText(m[2])))
		}
	}
	if len(lines) == 0 {
		return errors.New("no metric is registered")
	}
	sort.Strings(lines)
	b.WriteString("# Metrics\n\n" + notice + "Served at `/metrics` of the operators' listener (`OCTAVO_ADMIN_LISTEN`), beside those of the Go runtime and the process.\n\n")
	b.WriteString("| metric | kind | labels | what it is |\n|---|---|---|---|\n" + strings.Join(lines, ""))
	return nil
}

func kindOf(c prometheus.Collector, name string) string {
	switch c.(type) {
	case *prometheus.CounterVec:
		return "counter"
	case interface {
		WithLabelValues(values ...string) prometheus.Gauge
	}: // types that embed a *prometheus.GaugeVec match too
		return "gauge"
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	case prometheus.Gauge: // before Counter, because a gauge also has a counter's methods
		return "gauge"
	case prometheus.Counter:
		return "counter"
	}
	// Our own collectors only have counters and gauges.
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}
