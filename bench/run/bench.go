package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// bench is one run: what to measure, on what, and where the figures go.
type bench struct {
	scale
	report *report
	rig    *rig
	rate   float64
	// sent is how many events of the rig's site were acknowledged.
	sent int
	// data is the site of the data set, and dataBytes its JSON.
	data      target
	dataBytes int
}

// part is a group of rows that are measured together. The order matters: the
// data set is measured before loads put other rows into the same table.
type part struct {
	name    string
	roles   string // that the server must run
	engines bool   // whether it reads the engines, and so needs a server of our own
	measure func(*bench, context.Context) error
}

var parts = []part{
	{"decode", "", false, (*bench).decodeRow},
	{"disk", allRoles, true, (*bench).diskRow},
	{"aggregate", allRoles, true, (*bench).aggregateRow},
	{"resources", allRoles, true, (*bench).resourceRows},
	{"comments", allRoles, true, (*bench).commentRows},
	{"fresh", allRoles, false, (*bench).freshRows},
	{"intake", "api", false, (*bench).intakeRows},
	{"sink", "api", true, (*bench).sinkRow},
	{"catchup", "api", true, (*bench).catchupRow},
}

func (b *bench) run(ctx context.Context, only []string) error {
	var failed error
	for _, p := range parts {
		if len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		if p.engines && b.rig.foreign() {
			b.report.skip(p.name, "needs the engines of a server that it starts itself")
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
			// The other rows are worth having; the run still fails.
			failed = errors.Join(failed, fmt.Errorf("cannot measure %s: %w", p.name, err))
			b.report.skip(p.name, err.Error())
		}
	}
	return failed
}

// progress tells a person that it still works.
func progress(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "  "+format+"\n", values...)
}
