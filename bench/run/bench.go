package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// bench is the state of one run: its size, its servers and its report.
type bench struct {
	scale
	report *report
	rig    *rig
	rate   float64
	query  queryOptions
	// sent is the number of acknowledged events of the rig's site.
	sent int
	// doorRounds counts the loads of the row `door`, so that each load has new ids.
	doorRounds int
	// data is the site with the data set. dataBytes is the size of the data set's JSON.
	data      target
	dataBytes int
}

// part is a group of rows that are measured together. The order matters: the
// data set must be measured before loads add other rows to the same table.
type part struct {
	name    string
	roles   string // roles that the server needs
	engines bool   // whether the part reads the engines; it then needs a server that this run starts
	asked   bool   // whether the part is measured only on request
	measure func(*bench, context.Context) error
}

var parts = []part{
	{"decode", "", false, false, (*bench).decodeRow},
	{"disk", allRoles, true, false, (*bench).diskRow},
	{"aggregate", allRoles, true, false, (*bench).aggregateRow},
	{"resources", allRoles, true, false, (*bench).resourceRows},
	{"comments", allRoles, true, false, (*bench).commentRows},
	{"fresh", allRoles, false, false, (*bench).freshRows},
	{"price", allRoles, true, false, (*bench).priceRows},
	{"intake", "api", false, false, (*bench).intakeRows},
	{"door", "api", false, false, (*bench).doorRows},
	{"sink", "api", true, false, (*bench).sinkRow},
	{"catchup", "api", true, false, (*bench).catchupRow},
	{contentPart, allRoles, true, true, (*bench).contentRows},
	{pageViewsPart, allRoles, true, true, (*bench).pageViewRows},
	{queryPart, "", true, true, (*bench).queryRows},
}

func (b *bench) run(ctx context.Context, only []string) error {
	var failed error
	for _, p := range parts {
		if !slices.Contains(only, p.name) && (p.asked || len(only) > 0) {
			continue
		}
		if p.engines && b.rig.foreign() {
			b.report.skip(p.name, "needs the engines of a server that the benchmark starts itself")
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", p.name)
		err := b.rig.serve(ctx, p.roles)
		if err == nil {
			err = p.measure(b, ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			// The run continues with the other parts, and fails at the end.
			failed = errors.Join(failed, fmt.Errorf("cannot measure %s: %w", p.name, err))
			b.report.skip(p.name, err.Error())
		}
	}
	return failed
}

// progress prints a line to stderr, for a person who waits for the result.
func progress(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "  "+format+"\n", values...)
}
