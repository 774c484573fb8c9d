package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

var absentText = map[insights.NullRule]string{
	insights.NeverNull: "never",
	insights.AsNull:    "`null`",
	insights.AsEmpty:   "`\"\"`",
	insights.Excluded:  "left out",
	insights.AsZero:    "`0`",
}

// columns writes the column table for people who write queries.
func columns(b *bytes.Buffer) error {
	b.WriteString("# Insights columns\n\n" + notice)
	b.WriteString("The column *no value* says how an event without a value reads. *left out*: such events are not in the answer when the column is selected or grouped by.\n\n")
	b.WriteString("| column | use | values | operators | extra | no value | stored as | what it is |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range insights.Columns() {
		if c.Name == "" {
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", c.Name, use(c), cellText(c.Value.Shape()),
			operators(c), extra(c), absentText[c.Null], storedAs(c), cellText(c.Doc))
	}
	b.WriteString("\nAlso stored, but not available through the API:\n\n| stored as | privacy | what it is |\n|---|---|---|\n")
	for _, c := range insights.Columns() {
		if c.Name == "" {
			fmt.Fprintf(b, "| %s | %s | %s |\n", storedAs(c), c.Privacy, cellText(c.Doc))
		}
	}
	b.WriteString(quotedCode(guides))
	return nil
}

// guides is the section of the column table's document about GitBook's published guides. query/testdata/rows/guides.txt
// tests the queries of these guides.
const guides = `
## Questions of GitBook's guides

The ten questions of GitBook's guides have the answers that their texts say. Dimensions of ´select´ are grouped by,
whether ´groupBy´ names them or not, with one exception:

- ´datetime´ without an ´interval´ is the time of each group's last event, where ´groupBy´ names columns but no
  ´datetime´. The report on broken URLs selects ´datetime´ and ´url´ and groups by ´url´ alone: a row for each URL,
  with the time when it was last asked for. ´order´ may name it.
- The report on AI questions and ratings groups by ´eventAskResponseRating´. Events without a rating have 0 there, so
  that questions count too. The metric ´askResponseRating´ counts both ratings of a group in one row.
`

// quotedCode replaces acute accents by backticks, because a raw string cannot have backticks.
func quotedCode(text string) string { return strings.ReplaceAll(text, "´", "`") }

func use(c insights.Column) string {
	switch {
	case c.Has(insights.Measure):
		return "metric"
	case c.Has(insights.Time):
		return "time"
	default:
		return "dimension"
	}
}

func operators(c insights.Column) string {
	if len(c.Operators) == 0 {
		return "none"
	}
	return strings.Join(insights.OperatorWords(c.Operators), ", ")
}

func extra(c insights.Column) string {
	if c.Extra == nil {
		return ""
	}
	return c.Extra.Name
}

func storedAs(c insights.Column) string {
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		names[i] = "`" + f.Name + "`"
	}
	if len(names) == 0 {
		return "derived"
	}
	return strings.Join(names, ", ")
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// reasons writes the table of reasons why events are refused.
func reasons(b *bytes.Buffer) error {
	b.WriteString("# Why an event is refused\n\n" + notice)
	b.WriteString("A request is accepted as a whole or not at all, except that events of unknown types may be refused alone. The label is the `reason` label of `octavo_intake_requests_refused_total`.\n\n")
	b.WriteString("| reason | status | try again | when |\n|---|---|---|---|\n")
	for _, r := range insights.Reasons {
		again := "no"
		if r.Retryable {
			again = "yes, after `Retry-After`"
		}
		fmt.Fprintf(b, "| `%s` | %d | %s | %s |\n", r.Label, r.Status, again, cellText(r.Doc))
	}
	return nil
}
