package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/machine"
)

// row is one row of the result.
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

// budget is a limit for the median of a row's ratio. If the row has no ratio, it is a limit for the median of its
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
	machine.Run
	Quick   bool     `json:"quick"`
	Rows    []row    `json:"rows"`
	Skipped []string `json:"skipped,omitempty"`
	name    string   // end of the names of the result files
}

func newReport(ctx context.Context, quick bool) (*report, error) {
	run, err := machine.Begin(ctx, "./bench/run")
	return &report{Run: run, Quick: quick}, err
}

// add adds a row to the report. If the row has a budget, `add` also records whether the row meets it.
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
	b.WriteString(r.Head("Benchmarks"))
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

// save writes the report into a folder, and returns the files' path without the extension.
func (r *report) save(dir string) (string, error) {
	text, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("cannot save the results: %w", err)
	}
	return r.Save(dir, r.name, map[string][]byte{".md": []byte(r.markdown() + "\n"), ".json": append(text, '\n')})
}
