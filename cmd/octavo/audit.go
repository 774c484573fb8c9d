package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/postgres"
)

// AuditCmd groups the operator's commands for the audit log.
type AuditCmd struct {
	List AuditListCmd `cmd:"" help:"List the entries that belong to no organization, the newest first: users, their tokens, keys, removals of organizations."`
}

// AuditListCmd is `octavo audit list`.
type AuditListCmd struct {
	Settings `embed:""`
	Limit    int  `help:"Maximum number to list. 0: all." default:"100"`
	JSON     bool `help:"Print one JSON object per entry, with what changed."`
}

// Run lists the entries.
func (c *AuditListCmd) Run() error {
	return withStore(&c.Settings, "audit list", func(ctx context.Context, st *store.Store) error { return c.list(ctx, st, os.Stdout) })
}

// auditPage is the number of entries that are read at once.
const auditPage = 500

func (c *AuditListCmd) list(ctx context.Context, st *store.Store, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if !c.JSON {
		// Flush returns write errors.
		_, _ = fmt.Fprintln(w, "AT\tACTION\tTYPE\tID\tACTOR\tNAME\tOPERATION\tADDRESS")
	}
	n := 0
	err := eachEntry(ctx, st, func(e schema.AuditEntry) error {
		if c.Limit > 0 && n == c.Limit {
			return errEnough
		}
		n++
		if c.JSON {
			return printJSON(out, e)
		}
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%q\t%s\t%s\n", e.At.UTC().Format(time.DateTime), e.Action, e.Target.Type, cmp.Or(e.Target.ID, "-"),
			e.Actor.Type, cmp.Or(e.Actor.DisplayName, e.Actor.ID), cmp.Or(e.Operation, "-"), cmp.Or(e.Address, "-"))
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
		fmt.Fprintf(os.Stderr, "There are more than %d: see --limit.\n", c.Limit)
	}
	return firstError(err, w.Flush())
}

// eachEntry calls fn with each entry of the installation, the newest first.
func eachEntry(ctx context.Context, st *store.Store, fn func(schema.AuditEntry) error) error {
	for after := (*postgres.Cursor[time.Time])(nil); ; {
		page, err := st.Audit.ListInstallationAuditEntries(ctx, after, auditPage)
		if err != nil {
			return err
		}
		for _, entry := range page.Rows {
			if err := fn(entry); err != nil {
				return err
			}
			last := audit.AuditEntryCursor(entry)
			after = &last
		}
		if !page.More {
			return nil
		}
	}
}
