package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/product"
)

// Reconciled is the result of `octavo reconcile`. This command compares the log with the events table, without
// knowledge of the events that the client sent.
type Reconciled struct {
	Removed    int64    `json:"removed"` // number of messages that the log has removed to make space
	Messages   int64    `json:"messages"`
	Repeats    int64    `json:"repeats"`
	Events     int64    `json:"events"`
	Rows       int64    `json:"rows"`
	Ranges     int64    `json:"rangesThatDiffer"`
	FirstLines []string `json:"firstDifferences,omitempty"`
}

// Reconcile runs `octavo reconcile` with settings such as "OCTAVO_DATA_DIR=…". If the log and the table differ, it
// returns no error, because `sum` has the differences.
func Reconcile(ctx context.Context, binary string, settings ...string) (sum Reconciled, err error) {
	cmd := exec.CommandContext(ctx, binary, "reconcile", "--json")
	cmd.Env = product.Environment(settings...)
	var said bytes.Buffer
	cmd.Stderr = &said
	output, err := cmd.Output()
	sum, parseErr := parseReconciled(output)
	if parseErr != nil {
		return sum, parseErr
	}
	// The command also exits with 1 if it finds differences. It has then printed the differences, so Reconcile returns
	// no error.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || sum.Ranges == 0) {
		return sum, fmt.Errorf("cannot reconcile: %w\n%s", err, said.String())
	}
	return sum, nil
}

// parseReconciled reads the output of the command. The output is a JSON array, first with the differences and then with
// the partitions.
func parseReconciled(output []byte) (sum Reconciled, err error) {
	var list []jsontext.Value
	if err := json.Unmarshal(output, &list); err != nil {
		return sum, fmt.Errorf("cannot read the output of octavo reconcile: %w", err)
	}
	for _, line := range list {
		var p struct {
			Messages, Repeats, Events, Rows *int64
			From, Differences               int64
		}
		if err := json.Unmarshal(line, &p, json.MatchCaseInsensitiveNames(true)); err != nil {
			return sum, fmt.Errorf("cannot read the output of octavo reconcile: %w", err)
		}
		if p.Messages == nil || p.Repeats == nil || p.Events == nil || p.Rows == nil {
			if len(sum.FirstLines) < MaxExamples {
				sum.FirstLines = append(sum.FirstLines, string(line))
			}
			continue
		}
		sum.Removed += p.From
		sum.Messages += *p.Messages
		sum.Repeats += *p.Repeats
		sum.Events += *p.Events
		sum.Rows += *p.Rows
		sum.Ranges += p.Differences
	}
	return sum, nil
}
