package store_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/storetest"
)

// setClock moves all times in all rows by 400 days, as if the clock had been 400 days behind and is right now. The
// database's clock cannot be set.
const setClock = `
do $$
declare
    r record;
begin
    for r in
        select t.table_name,
            string_agg(format('%1$I = %1$I - interval ''400 days''', c.column_name), ', ') as moves
        from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
        where t.table_schema = current_schema() and t.table_type = 'BASE TABLE' and t.table_name <> 'clock'
          and c.data_type = 'timestamp with time zone' and c.is_generated = 'NEVER'
        group by t.table_name
    loop
        execute format('alter table %I disable trigger user', r.table_name);
        execute format('update %I set %s', r.table_name, r.moves);
        execute format('alter table %I enable trigger user', r.table_name);
    end loop;
end
$$;
`

// wrongClock is a database whose clock is wrong by 400 days.
type wrongClock struct {
	t      *testing.T
	st     *store.Store
	conn   *pgx.Conn
	tenant *storetest.Tenant
	hook   hooks.Webhook
}

func (b *wrongClock) must(_ any, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *wrongClock) exec(sql string, arguments ...any) {
	b.t.Helper()
	b.must(b.conn.Exec(b.t.Context(), sql, arguments...))
}

// wants checks that a query returns the number `want`.
func (b *wrongClock) wants(want int, sql string) {
	b.t.Helper()
	var got int
	b.must(nil, b.conn.QueryRow(b.t.Context(), sql).Scan(&got))
	if got != want {
		b.t.Errorf("%d, want %d: %s", got, want, sql)
	}
}

// due returns the next delivery of the webhook.
func (b *wrongClock) due() hooks.DueDelivery {
	b.t.Helper()
	due, ok, err := b.st.Hooks.NextDelivery(b.t.Context(), b.hook.ID)
	if err != nil || !ok {
		b.t.Fatalf("%v: no delivery is due", err)
	}
	return due
}

// fail records a failure of the next delivery, which is due again at once.
func (b *wrongClock) fail() {
	b.t.Helper()
	b.must(nil, b.st.Hooks.RecordDelivery(b.t.Context(), b.hook.ID, b.due().Delivery.ID, hooks.DeliveryResult{
		URL: b.hook.Url, At: time.Now(), Reason: "it is down", Pause: new(time.Duration),
	}))
}

// oldestDelivery returns the waiting time of the oldest delivery without a job.
func (b *wrongClock) oldestDelivery() time.Duration {
	b.t.Helper()
	totals, err := b.st.Queue.Totals(b.t.Context())
	b.must(nil, err)
	i := slices.IndexFunc(totals, func(total queue.Totals) bool {
		return total.Kind == schema.DeliverWebhooks{}.Kind()
	})
	return totals[i].OldestWaiting
}

// TestRowsWhileClockIsBehind creates rows while Postgres's clock is 400 days behind. When the clock is right again, the
// rows must not look old: none of them is deleted or given up.
func TestRowsWhileClockIsBehind(t *testing.T) {
	t.Parallel()
	const invites = "select count(*) from email_invites where expires_at > creation_time()"
	for name, c := range map[string]struct {
		// make creates rows while the clock is behind. `later` checks the rows when the clock is right.
		make, later func(*wrongClock)
	}{
		"deliveries": {func(b *wrongClock) {
			commentOn(b)
			b.exec("update webhook_deliveries set next_attempt_at = next_attempt_at - interval '20 minutes'")
			if waits := b.oldestDelivery(); waits < 20*time.Minute || waits > time.Hour {
				b.t.Errorf("the oldest delivery waits for %s", waits)
			}
			b.must(nil, b.st.Hooks.AskForDeliveries(b.t.Context()))
			b.wants(1, "select count(*) from river_job where kind = 'deliver_webhooks'")
			b.due()
		}, func(b *wrongClock) {
			b.must(b.st.Hooks.DeleteOldWebhookEvents(b.t.Context()))
			b.must(nil, b.st.Hooks.RestWebhook(b.t.Context(), b.hook.ID))
			b.due()
		}},
		"deliveries by hand": {func(b *wrongClock) {
			user := b.tenant.Users[schema.RoleAdmin].ID
			d, err := b.st.Hooks.PingWebhook(b.t.Context(), b.hook.OrganizationID, b.hook.ID, user)
			b.must(nil, err)
			b.must(nil, b.st.Hooks.RecordDelivery(b.t.Context(), b.hook.ID, d.WebhookDelivery.ID,
				hooks.DeliveryResult{URL: b.hook.Url, At: time.Now()}))
			again, err := b.st.Hooks.Redeliver(
				b.t.Context(), b.hook.OrganizationID, b.hook.ID, d.WebhookDelivery.ID)
			if err != nil || b.due().Delivery.ID != again.WebhookDelivery.ID {
				b.t.Error(err, again)
			}
		}, func(b *wrongClock) {
			b.must(b.st.Hooks.DeleteOldWebhookEvents(b.t.Context()))
			b.must(nil, b.st.Hooks.RestWebhook(b.t.Context(), b.hook.ID))
			b.due()
			b.wants(2, "select count(*) from webhook_deliveries")
		}},
		"a failing webhook": {func(b *wrongClock) {
			commentOn(b)
			b.fail()
		}, func(b *wrongClock) {
			if due := b.due(); due.GivesUp || due.Webhook.FailingSince == nil {
				b.t.Errorf("gives up: %v, failing since %v", due.GivesUp, due.Webhook.FailingSince)
			}
		}},
		"changes for front ends": {func(b *wrongClock) {
			b.exec("update sites set title = 'New'")
			b.must(nil, b.st.Hooks.AskForRevalidation(b.t.Context(), time.Hour))
			b.wants(0, "select count(*) from river_job where kind = 'revalidate_front_ends'")
			b.exec("update front_end_changes set at = at - interval '2 hours'")
			b.must(nil, b.st.Hooks.AskForRevalidation(b.t.Context(), time.Hour))
			b.wants(1, "select count(*) from river_job where kind = 'revalidate_front_ends'")
		}, func(b *wrongClock) {
			b.must(b.st.Hooks.DeleteOldFrontEndChanges(b.t.Context()))
			changes, err := b.st.Hooks.FrontEndChanges(b.t.Context(), b.tenant.Organization.ID)
			if err != nil || !slices.Contains(changes.Tags, schema.SiteTag(b.tenant.Site.ID)) {
				b.t.Errorf("%v: %v", err, changes.Tags)
			}
		}},
		"an erasure": {func(b *wrongClock) {
			ctx, now := b.t.Context(), time.Now()
			b.must(b.st.Sites.AskErasure(ctx, b.tenant.Site.ID, 1, now, 30*24*time.Hour))
			batch, err := b.st.Sites.BeginErasures(ctx, 10)
			b.must(nil, err)
			b.must(nil, b.st.Sites.MarkMutated(ctx, batch.Version, now))
			b.must(b.st.Sites.FinishErasures(ctx, now))
			b.must(nil, b.st.Sites.ForgetErasures(ctx))
		}, func(b *wrongClock) {
			b.must(nil, b.st.Sites.ForgetErasures(b.t.Context()))
			b.wants(1, "select count(*) from tombstones")
			b.wants(1, "select count(*) from erasures where done_at > now() - interval '1 hour'")
		}},
		"a key of site tokens": {func(b *wrongClock) {
			b.must(b.st.Sites.TokenKey(b.t.Context(), "w1"))
		}, func(b *wrongClock) {
			b.must(b.st.Sites.TokenKey(b.t.Context(), "w2"))
			b.wants(2, "select count(*) from site_token_keys")
		}},
		"credentials of a failed Git operation": {func(b *wrongClock) {
			b.exec(`insert into git_operations (id, space_id, kind, state, reason, url, credentials, ref, parameters,
				"timestamp") values ('o', $1, 'import', 'running', '', 'https://git.example/', 'c', 'main', '{}', now())`,
				b.tenant.Space.ID)
			b.must(nil, b.st.FailLostGitOperations(b.t.Context()))
		}, func(b *wrongClock) {
			b.must(nil, b.st.ForgetGitCredentials(b.t.Context()))
			b.wants(1, "select count(*) from git_operations where state = 'failed' and credentials is not null")
		}},
		"a failed job": {func(b *wrongClock) {
			b.exec(`insert into river_job (state, attempt, max_attempts, attempted_by, args, kind)
				values ('running', 3, 3, '{dead}', '{}', 'k')`)
			if n, err := b.st.Queue.Rescue(b.t.Context(), []string{"dead"}); err != nil || n != 1 {
				b.t.Error(n, err)
			}
		}, func(b *wrongClock) {
			b.must(b.st.Queue.DeleteOld(b.t.Context()))
			b.wants(1, "select count(*) from river_job where kind = 'k' and state = 'discarded'")
		}},
		// The attempt to write the PDF continues while the sweep deletes the bytes of failed attempts.
		"a PDF that is being written": {func(b *wrongClock) {
			b.exec(`insert into pdfs (space_id, key, revision, page, alone, used_at)
				values ($1, 'k', 'r', '', false, $2)`, b.tenant.Space.ID, time.Now().Add(400*24*time.Hour))
			b.must(nil, b.st.WritePDF(b.t.Context(), b.tenant.Space.ID, "k", func(w io.Writer) error {
				b.setRight()
				b.must(b.st.DeleteOldPDFs(b.t.Context()))
				_, err := w.Write([]byte("%PDF"))
				return err
			}))
		}, func(b *wrongClock) {
			b.wants(1, "select count(*) from pdfs p join pdf_chunks c on c.content = p.content")
		}},
		"invites": {func(b *wrongClock) {
			admin, people := b.tenant.Users[schema.RoleAdmin].ID, []orgs.PersonToInvite{{Email: "new@example.com"}}
			_, err := b.st.Orgs.InviteByEmail(b.t.Context(), b.tenant.Organization.ID, admin, people, false)
			b.must(nil, err)
			link, err := b.st.Orgs.CreateLinkInvite(b.t.Context(), orgs.NewLinkInvite{
				OrganizationID: b.tenant.Organization.ID, UserID: admin,
			})
			if err != nil || link.ExpiresAt == nil {
				b.t.Fatal(err, link.ExpiresAt)
			}
			b.wants(1, invites)
		}, func(b *wrongClock) {
			b.must(nil, b.st.Orgs.DeleteEndedInvites(b.t.Context()))
			b.wants(1, invites)
			b.wants(1, "select count(*) from link_invites where expires_at > now()")
			b.exec("update email_invites set mail_state = 'waiting'")
			b.must(nil, b.st.Orgs.InviteMailsNotSent(b.t.Context(), b.tenant.Organization.ID, "it is down"))
			b.wants(1, "select count(*) from email_invites where mail_state = 'waiting'")
		}},
		"the audit log": {func(b *wrongClock) {
			b.exec("delete from sites where id = $1", b.tenant.Site.ID)
		}, func(b *wrongClock) {
			b.must(b.st.Audit.DeleteOldAuditEntries(b.t.Context(), 24*time.Hour))
			b.wants(1, "select count(*) from audit_log where object_type = 'site' and action = 'delete'")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			b := &wrongClock{t: t, conn: storetest.Connect(t, url), st: storetest.Open(t, url)}
			b.tenant, b.hook = storetest.Hooked(t, b.st)
			b.exec("update clock set seen_at = now() + interval '400 days'")
			c.make(b)
			b.setRight()
			c.later(b)
		})
	}
}

// commentOn creates a comment, which causes a webhook event.
func commentOn(b *wrongClock) {
	b.t.Helper()
	b.must(b.st.CreateComment(b.t.Context(), store.NewComment{
		Place: store.Place{SpaceID: b.tenant.Space.ID}, UserID: b.tenant.Users[schema.RoleAdmin].ID,
		Body: store.CommentBody{Sent: []byte(`{"markdown":"x"}`)},
	}))
}

// setRight sets the clock right. If the clock is right, it does nothing.
func (b *wrongClock) setRight() {
	b.t.Helper()
	var isBehind bool
	b.must(nil, b.conn.QueryRow(b.t.Context(), "select seen_at > now() + interval '1 day' from clock").Scan(&isBehind))
	if isBehind {
		b.exec(setClock)
		b.exec("update clock set seen_at = now()")
	}
}
