package main

import (
	"cmp"
	"context"
	"io"
	"os"
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
	listFlags
}

// Run lists the entries.
func (c *AuditListCmd) Run() error {
	return withStore(&c.Settings, "audit list", func(ctx context.Context, st *store.Store) error {
		return c.print(ctx, st, os.Stdout)
	})
}

// auditPage is the number of entries that the command reads from Postgres at once.
const auditPage = 500

func (c *AuditListCmd) print(ctx context.Context, st *store.Store, out io.Writer) error {
	const header = "AT\tACTION\tTYPE\tID\tACTOR\tNAME\tOPERATION\tADDRESS"
	return c.list(out, header, func(r *rows) error {
		return eachEntry(ctx, st, func(e schema.AuditEntry) error {
			return r.add(e, "%s\t%s\t%s\t%s\t%s\t%q\t%s\t%s", e.At.UTC().Format(time.DateTime), e.Action,
				e.Target.Type, cmp.Or(e.Target.ID, "-"), e.Actor.Type, cmp.Or(e.Actor.DisplayName, e.Actor.ID),
				cmp.Or(e.Operation, "-"), cmp.Or(e.Address, "-"))
		})
	})
}

// eachEntry calls `fn` with each audit entry that belongs to no organization, the newest first.
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
