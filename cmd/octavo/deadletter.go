package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// DeadLetterCmd groups the commands for events that could not be stored.
type DeadLetterCmd struct {
	List   DeadLetterListCmd   `cmd:"" help:"List the events that could not be stored, and why."`
	Show   DeadLetterShowCmd   `cmd:"" help:"Print one of them as JSON, with its message."`
	Replay DeadLetterReplayCmd `cmd:"" help:"Append them to the event log again, once the cause is fixed."`
}

// DeadLetterListCmd is `octavo deadletter list`.
type DeadLetterListCmd struct {
	Settings `embed:""`
	All      bool   `help:"Also list those that were replayed."`
	Site     string `help:"Only events of this site."`
	listFlags
}

// Run lists the dead letters.
func (c *DeadLetterListCmd) Run() error {
	return withDeadLetters(&c.Settings, embedded.Set{Kafka: true},
		func(ctx context.Context, _ *backends, letters *deadletter.Letters) error {
			return c.print(ctx, letters, os.Stdout)
		})
}

func (c *DeadLetterListCmd) print(ctx context.Context, letters *deadletter.Letters, out io.Writer) error {
	return c.list(out, "KEY\tSITE\tRECEIVED\tREASON\tSTATE\tERROR", func(r *rows) error {
		return letters.Each(ctx, c.All, func(d *deadletter.Letter, replayed bool) error {
			if c.Site != "" && d.Site != c.Site {
				return nil
			}
			state := "waiting"
			if replayed {
				state = "replayed"
			}
			if c.JSON {
				d.Message = nil
			}
			return r.add(deadLetterLine{d.Key(), replayed, d}, "%s\t%s\t%s\t%s\t%s\t%.80q", d.Key(), d.Site,
				d.Received.Format(time.DateTime), d.Reason, state, d.Error)
		})
	})
}

type deadLetterLine struct {
	Key      string `json:"key"`
	Replayed bool   `json:"replayed"`
	*deadletter.Letter
}

// DeadLetterShowCmd is `octavo deadletter show`.
type DeadLetterShowCmd struct {
	Settings `embed:""`
	Key      string `arg:"" help:"Key of the event, as printed by list."`
}

// Run prints a dead letter.
func (c *DeadLetterShowCmd) Run() error {
	return withDeadLetters(&c.Settings, embedded.Set{Kafka: true}, func(ctx context.Context, _ *backends, letters *deadletter.Letters) error {
		d, replayed, err := letters.Find(ctx, c.Key)
		if err != nil {
			return err
		}
		if d == nil {
			return fmt.Errorf("there is no dead letter %s", c.Key)
		}
		return printJSON(os.Stdout, deadLetterLine{c.Key, replayed, d}, jsontext.WithIndent("  "))
	})
}

// DeadLetterReplayCmd is `octavo deadletter replay`.
type DeadLetterReplayCmd struct {
	Settings `embed:""`
	Keys     []string `arg:"" optional:"" help:"Keys of events, as printed by list."`
	All      bool     `help:"Replay every event that was not replayed yet."`
	Site     string   `help:"With --all, only events of this site."`
}

// Run replays dead letters.
func (c *DeadLetterReplayCmd) Run() error {
	if c.All == (len(c.Keys) > 0) {
		return errors.New("name the keys of dead letters, or use --all")
	}
	return withDeadLetters(&c.Settings, embedded.Set{Kafka: true, Postgres: true}, func(ctx context.Context, b *backends, letters *deadletter.Letters) error {
		st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
		if err != nil {
			return err
		}
		defer st.Stop()
		list, _, err := erased(ctx, st)
		if err != nil {
			return err
		}
		letters.Erased = func(site string, visitor uint64, key string, received int64) bool {
			return list.View().Site(site).Has(visitor, key, received)
		}
		return c.replay(ctx, letters, os.Stderr)
	})
}

func (c *DeadLetterReplayCmd) replay(ctx context.Context, letters *deadletter.Letters, out io.Writer) error {
	wanted := map[string]bool{}
	for _, key := range c.Keys {
		wanted[key] = true
	}
	replayed, failed := 0, 0
	err := letters.Each(ctx, true, func(d *deadletter.Letter, was bool) error {
		switch {
		case c.All && (was || c.Site != "" && d.Site != c.Site), !c.All && !wanted[d.Key()]:
			return nil
		case was:
			delete(wanted, d.Key())
			say(out, "%s was already replayed\n", d.Key())
			return nil
		}
		delete(wanted, d.Key())
		err := letters.Replay(ctx, d)
		switch {
		case err == nil:
			replayed++
			say(out, "%s replayed\n", d.Key())
		case errors.Is(err, deadletter.ErrReplayed):
			say(out, "%s was already replayed\n", d.Key())
		case errors.Is(err, deadletter.ErrErased):
			say(out, "%s not replayed, and set aside for good: its visitor was erased\n", d.Key())
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			failed++
			say(out, "%s not replayed: %v\n", d.Key(), err)
		}
		return nil
	})
	for key := range wanted {
		failed++
		say(out, "%s: no such dead letter\n", key)
	}
	say(out, "%d replayed, %d not\n", replayed, failed)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d dead letters were not replayed", failed)
	}
	return err
}

// withDeadLetters runs a command that reads the dead letters. It uses the broker of a running node, or starts an
// embedded broker for the command.
func withDeadLetters(s *Settings, want embedded.Set, run func(context.Context, *backends, *deadletter.Letters) error) (err error) {
	ctx, stop := untilSignalled()
	defer stop()
	b, err := attach(ctx, s, want, false)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	access, err := b.kafkaAccess()
	if err != nil {
		return err
	}
	letters, err := deadletter.Open(b.kafkaBrokers, access, s.KafkaTopic)
	if err != nil {
		return err
	}
	defer letters.Close()
	return run(ctx, b, letters)
}
