package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// row is one line of the result.
type row struct {
	What    string   `json:"what"`
	Against string   `json:"against,omitempty"`
	Unit    string   `json:"unit"`
	Ours    spread   `json:"ours"`
	Ceiling *spread  `json:"ceiling,omitempty"`
	Ratio   *spread  `json:"ratio,omitempty"`
	Budget  *budget  `json:"budget,omitempty"`
	Met     *bool    `json:"met,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// budget bounds the median ratio or, for a row without a ratio, the median
// value.
type budget struct {
	AtLeast float64 `json:"atLeast,omitzero"`
	AtMost  float64 `json:"atMost,omitzero"`
}

func (b budget) text() string {
	if b.AtLeast > 0 {
		return "≥ " + number(b.AtLeast)
	}
	return "≤ " + number(b.AtMost)
}

func (b budget) holds(v float64) bool {
	return (b.AtLeast == 0 || v >= b.AtLeast) && (b.AtMost == 0 || v <= b.AtMost)
}

type report struct {
	Date    string          `json:"date"`
	Commit  string          `json:"commit"`
	Command string          `json:"command"`
	Quick   bool            `json:"quick"`
	Took    string          `json:"took"`
	Machine machine.Machine `json:"machine"`
	Rows    []row           `json:"rows"`
	Skipped []string        `json:"skipped,omitempty"`
	// name ends the files' names, and plot is an SVG document; "" is none.
	name, plot string
}

func newReport(ctx context.Context, quick bool) (*report, error) {
	m, err := machine.This()
	if err != nil {
		return nil, err
	}
	return &report{
		Date: time.Now().UTC().Format(time.RFC3339), Commit: machine.Commit(ctx), Quick: quick, Machine: m,
		Command: "go run ./bench/run " + strings.Join(os.Args[1:], " "),
	}, nil
}

// add judges a row by its budget and adds it to the report.
func (r *report) add(x row) {
	if x.Budget != nil {
		judged := x.Ours.Median
		if x.Ratio != nil {
			judged = x.Ratio.Median
		}
		met := x.Budget.holds(judged)
		x.Met = &met
	}
	r.Rows = append(r.Rows, x)
	progress("%s: %s %s", x.What, x.Ours.text(), x.Unit)
}

func (r *report) compare(what, against, unit string, c compared, b *budget, notes ...string) {
	r.add(row{What: what, Against: against, Unit: unit, Ours: c.ours, Ceiling: &c.ceiling, Ratio: &c.ratio, Budget: b, Notes: notes})
}

// note adds a note to the last row.
func (r *report) note(text string) {
	last := &r.Rows[len(r.Rows)-1]
	last.Notes = append(last.Notes, text)
}

func (r *report) skip(name, why string) { r.Skipped = append(r.Skipped, name+": "+why) }

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks, %s\n\n", r.Date[:10])
	fmt.Fprintf(&b, "Commit %s, `%s`, took %s.\n%s.\n", r.Commit, strings.TrimSpace(r.Command), r.Took, r.Machine.Text())
	if r.Quick {
		b.WriteString("\n**A smoke run: too short for its figures to mean anything.**\n")
	}
	b.WriteString("\nMedians of rounds that took turns with their ceiling; lowest and highest round in brackets. The ratio is the median of the rounds' ratios.\n\n")
	b.WriteString("| what | Octavo | ceiling | ratio | budget | met |\n|---|---|---|---|---|---|\n")
	for _, x := range r.Rows {
		ceiling, ratio, bound, met := "", "", "", ""
		if x.Ceiling != nil {
			ceiling = x.Ceiling.text() + " " + x.Unit + ": " + x.Against
			ratio = x.Ratio.text()
		}
		if x.Budget != nil {
			bound = x.Budget.text()
			met = map[bool]string{true: "yes", false: "**no**"}[*x.Met]
		}
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s | %s | %s |\n", x.What, x.Ours.text(), x.Unit, ceiling, ratio, bound, met)
	}
	if r.plot != "" {
		fmt.Fprintf(&b, "\n![growth](%s.svg)\n", r.file())
	}
	for _, x := range r.Rows {
		for _, note := range x.Notes {
			fmt.Fprintf(&b, "\n- %s: %s", x.What, note)
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\n- **Not measured**: %s", s)
	}
	return b.String()
}

// file is the name of the report's files without extension.
func (r *report) file() string { return r.Date[:10] + "-" + r.Commit + r.name }

// save writes the report into a folder and returns its path without extension.
func (r *report) save(dir string) (string, error) {
	if dir == "" {
		root, err := enginetest.ModuleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bench", "results")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot save the results: %w", err)
	}
	path := filepath.Join(dir, r.file())
	text, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("cannot save the results: %w", err)
	}
	files := map[string][]byte{".md": []byte(r.markdown() + "\n"), ".json": append(text, '\n')}
	if r.plot != "" {
		files[".svg"] = []byte(r.plot)
	}
	for ending, content := range files {
		if err := os.WriteFile(path+ending, content, 0o644); err != nil {
			return "", fmt.Errorf("cannot save the results: %w", err)
		}
	}
	return path, nil
}
