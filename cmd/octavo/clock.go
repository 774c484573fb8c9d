package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/clock"
)

// ClockCmd groups the operator's commands for the clock.
type ClockCmd struct {
	Show    ClockShowCmd    `cmd:"" help:"Show what is known of the time, and whether deletions by age are held."`
	Confirm ClockConfirmCmd `cmd:"" help:"Say that the database's clock is right: what is old by it is deleted again."`
}

// clockFlags has the flags of `octavo clock show` and `octavo clock confirm`.
type clockFlags struct {
	Settings `embed:""`
	JSON     bool `help:"Print a JSON object."`
}

// ClockShowCmd is `octavo clock show`.
type ClockShowCmd struct{ clockFlags }

// Run prints the state of the clock.
func (c *ClockShowCmd) Run() error {
	return withStore(&c.Settings, "clock show", func(ctx context.Context, st *store.Store) error {
		state, err := st.Clock.State(ctx)
		if err != nil {
			return err
		}
		return c.print(os.Stdout, state)
	})
}

// ClockConfirmCmd is `octavo clock confirm`.
type ClockConfirmCmd struct{ clockFlags }

// Run records that the database's clock is right, and prints the state of the clock.
func (c *ClockConfirmCmd) Run() error {
	return withStore(&c.Settings, "clock confirm", func(ctx context.Context, st *store.Store) error {
		state, err := st.Clock.Confirm(ctx)
		if err != nil {
			return err
		}
		return c.print(os.Stdout, state)
	})
}

// shownClock is the JSON output of the clock commands.
type shownClock struct {
	Now         time.Time  `json:"now"`
	Seen        *time.Time `json:"seen"`
	Held        bool       `json:"deletionsHeld"`
	Doubt       string     `json:"doubt,omitzero"`
	LeftSeconds int64      `json:"leftSeconds,omitzero"`
	ConfirmedAt *time.Time `json:"confirmedAt,omitzero"`
}

func (f *clockFlags) print(out io.Writer, s clock.State) error {
	moment := func(at time.Time) *time.Time {
		if at.IsZero() {
			return nil
		}
		return &at
	}
	if f.JSON {
		return printJSON(out, shownClock{
			Now: s.Now, Seen: moment(s.Seen), Held: s.Held(), Doubt: string(s.Doubt),
			LeftSeconds: int64(s.Left() / time.Second), ConfirmedAt: moment(s.ConfirmedAt),
		})
	}
	text := fmt.Sprintf("The database's clock says %s UTC.\n", s.Now.Format(time.DateTime))
	if !s.Seen.IsZero() {
		text += fmt.Sprintf("Nodes have seen %s UTC.\n", s.Seen.Format(time.DateTime))
	}
	switch s.Doubt {
	case clock.Ahead:
		text += fmt.Sprintf("The clock is days ahead, so nothing is deleted by age until nodes have run "+
			"for another %s,\nor until you run octavo clock confirm.\n", s.Left().Round(time.Minute))
	case clock.Behind:
		text += "The clock is days behind. octavo clock confirm says that it is right.\n"
	default:
		text += "What is old by it is deleted.\n"
	}
	_, err := io.WriteString(out, text)
	return err
}
