package hooks_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/storetest"
)

// heard returns the types of the events that a webhook has received, in order.
func heard(t testing.TB, st *store.Store, w hooks.Webhook) []string {
	t.Helper()
	page, err := st.Hooks.ListWebhookDeliveries(
		t.Context(), w.OrganizationID, w.ID, hooks.WebhookDeliveryFilter{}, "", 1000,
	)
	if err != nil {
		t.Fatal(err)
	}
	types := []string{}
	for _, d := range page.Rows {
		types = append(types, d.WebhookEvent.Type)
	}
	slices.Reverse(types)
	return types
}

func commentOn(t testing.TB, st *store.Store, tenant *storetest.Tenant) store.CommentRow {
	t.Helper()
	row, err := st.CreateComment(t.Context(), store.NewComment{
		Place: store.Place{SpaceID: tenant.Space.ID}, UserID: tenant.Users[schema.RoleAdmin].ID,
		Body: store.CommentBody{Sent: []byte(`{"markdown":"x"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestWebhookEventsAreCommitted checks that an event is committed together with its change, or not at all. If no
// webhook wants an event, it must not be recorded.
func TestWebhookEventsAreCommitted(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	silent := storetest.NewTenant(t, st, "silent")
	commentOn(t, st, silent)
	commentOn(t, st, tenant)
	const insert = `insert into comments (id, space_id, author_id, body, revision) values ($1, $2, $3, '{}', 'r')`
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), insert, "rolled-back", tenant.Space.ID, tenant.Users[schema.RoleAdmin].ID); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	// If an object is created and then changed in one transaction, the only event is the creation, with the object's
	// last state.
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		for _, sql := range []string{
			insert, "update comments set body = '{\"a\":1}' where id = $1 and space_id = $2 and author_id = $3",
			"update comments set body = '{\"a\":2}', page_id = 'p' where id = $1 and space_id = $2 and author_id = $3",
		} {
			if _, err := tx.Exec(t.Context(), sql, "made", tenant.Space.ID, tenant.Users[schema.RoleAdmin].ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := heard(t, st, w); !slices.Equal(got, []string{"comment.created", "comment.created"}) {
		t.Errorf("%q", got)
	}
	var events int
	var page string
	if err := conn.QueryRow(t.Context(), "select count(*), max(data ->> 'page') from webhook_events").Scan(&events, &page); err != nil || events != 2 || page != "p" {
		t.Errorf("%d events, %q, %v", events, page, err)
	}
}

// TestWebhooksHearOfTheLastState checks that a webhook for created objects gets their state at the end of the
// transaction.
func TestWebhooksHearOfTheLastState(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st, "cluster.created")
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`insert into issues_clusters (id, organization_id, label, icon, impact, summary, sources, issues, conversations)
				values ('c', $1, '', '', 'low', '{}', '{}', 0, 0)`,
			"update issues_clusters set label = 'It fails', impact = 'high', issues = 3, conversations = 2 where organization_id = $1",
		} {
			if _, err := tx.Exec(t.Context(), sql, tenant.Organization.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Later changes are updates, which the webhook does not want.
	if _, err := conn.Exec(t.Context(), "update issues_clusters set issues = 4 where organization_id = $1", tenant.Organization.ID); err != nil {
		t.Fatal(err)
	}
	page, err := st.Hooks.ListWebhookDeliveries(
		t.Context(), w.OrganizationID, w.ID, hooks.WebhookDeliveryFilter{}, "", 10,
	)
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%+v %v", page.Rows, err)
	}
	if got := string(page.Rows[0].WebhookEvent.Data); !strings.Contains(got, `"issues": 3`) || !strings.Contains(got, `"impact": "high"`) {
		t.Error(got)
	}
}

// TestWebhooksDoNotHearOfWhatGoesAlong checks that objects that are deleted together with another object cause no
// events: comments in a deleted space, and replies to a deleted comment.
func TestWebhooksDoNotHearOfWhatGoesAlong(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	comment := commentOn(t, st, tenant)
	if _, err := st.CreateReply(t.Context(), store.Place{SpaceID: tenant.Space.ID}, comment.ID, tenant.Users[schema.RoleAdmin].ID, store.CommentBody{Sent: []byte(`{"markdown":"y"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := st.DeleteComment(t.Context(), store.CommentRef{Place: store.Place{SpaceID: tenant.Space.ID}, ID: comment.ID}, func(store.Comment) error { return nil }); err != nil {
		t.Fatal(err)
	}
	commentOn(t, st, tenant)
	if _, err := conn.Exec(t.Context(), "delete from spaces where id = $1", tenant.Space.ID); err != nil {
		t.Fatal(err)
	}
	want := []string{"comment.created", "comment.reply.created", "comment.deleted", "comment.created"}
	if got := heard(t, st, w); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWebhooksHearOfTranslations checks that a run with several failed attempts causes one event about the failure. If
// a later attempt succeeds, a second event reports this.
func TestWebhooksHearOfTranslations(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	for _, sql := range []string{
		`insert into translations (id, organization_id, source_space_id, source_language, language, instructions)
			select 't', organization_id, id, 'en', 'de', '{}' from spaces where id = $1`,
		"insert into translation_runs (id, translation_id, state) select 'a', 't', 'queued' from spaces where id = $1",
		"update translation_runs set state = 'running' from spaces s where s.id = $1",
		"update translation_runs set state = 'done' from spaces s where s.id = $1",
		"update translation_runs set finished_at = now() from spaces s where s.id = $1",
		"insert into translation_runs (id, translation_id, state) select 'b', 't', 'queued' from spaces where id = $1",
		"update translation_runs set state = 'failed', reason = 'no provider' from spaces s where s.id = $1 and translation_runs.id = 'b'",
		"update translation_runs set state = 'running', reason = '' from spaces s where s.id = $1 and translation_runs.id = 'b'",
		"update translation_runs set state = 'failed', reason = 'no provider again' from spaces s where s.id = $1 and translation_runs.id = 'b'",
		"insert into translation_runs (id, translation_id, state) select 'c', 't', 'running' from spaces where id = $1",
		"update translation_runs set state = 'failed', reason = 'no provider' from spaces s where s.id = $1 and translation_runs.id = 'c'",
		"update translation_runs set state = 'running', reason = '' from spaces s where s.id = $1 and translation_runs.id = 'c'",
		"update translation_runs set state = 'done' from spaces s where s.id = $1 and translation_runs.id = 'c'",
	} {
		if _, err := conn.Exec(t.Context(), sql, tenant.Space.ID); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	page, err := st.Hooks.ListWebhookDeliveries(
		t.Context(), w.OrganizationID, w.ID, hooks.WebhookDeliveryFilter{}, "", 10,
	)
	wanted := []string{"translation.run.completed c", "translation.run.failed c", "translation.run.failed b", "translation.run.completed a"}
	if err != nil || len(page.Rows) != len(wanted) {
		t.Fatalf("%+v %v", page.Rows, err)
	}
	for i, want := range wanted {
		e := page.Rows[i].WebhookEvent
		failed := strings.Contains(want, "failed")
		if got := e.Type + " " + e.Subject; got != want || strings.Contains(string(e.Data), `"no provider"`) != failed {
			t.Errorf("%s %s, want %s", got, e.Data, want)
		}
	}
}

// TestTooManyDeliveriesByHand checks the limit of waiting deliveries that users have requested.
func TestTooManyDeliveriesByHand(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant, w := storetest.Hooked(t, st)
	for {
		_, err := st.Hooks.PingWebhook(t.Context(), w.OrganizationID, w.ID, tenant.Users[schema.RoleAdmin].ID)
		if schema.IsCode(err, schema.CodeTooManyRequests) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := heard(t, st, w); len(got) != 100 {
		t.Errorf("%d pings", len(got))
	}
}

// TestJobTotalsSeeDeliveries checks that the totals include deliveries for which no job is enqueued. Only nodes that
// run jobs enqueue these jobs, and no such node may be running.
func TestJobTotalsSeeDeliveries(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	late := func() time.Duration {
		t.Helper()
		totals, err := st.Queue.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(
			totals, func(row queue.Totals) bool { return row.Kind == schema.DeliverWebhooks{}.Kind() },
		)
		if i < 0 {
			t.Fatal(totals)
		}
		return totals[i].OldestWaiting
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	between := func(what string, least, most time.Duration) {
		t.Helper()
		if got := late(); got < least || got > most {
			t.Errorf("%s: %s", what, got)
		}
	}
	between("nothing happened", 0, 0)
	commentOn(t, st, tenant)
	exec("update webhook_deliveries set next_attempt_at = now() - interval '20 minutes'")
	between("nobody asks", 20*time.Minute, 40*time.Minute)
	if err := st.Hooks.AskForDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	between("a job waits", 0, 10*time.Minute)
	if err := st.Hooks.RestWebhook(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	exec("delete from river_job")
	exec("update webhooks set due_at = now() + interval '30 minutes'")
	between("its time has not come", 0, 0)
	exec("update webhooks set due_at = now() - interval '30 minutes'")
	between("its time has come", 30*time.Minute, time.Hour)
	exec("update webhooks set active = false")
	between("it is paused", 0, 0)
}

// TestOldWebhookEventsGo checks that old events are deleted together with their deliveries.
func TestOldWebhookEventsGo(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	commentOn(t, st, tenant)
	commentOn(t, st, tenant)
	if _, err := conn.Exec(t.Context(), "update webhook_events set created_at = now() - interval '15 days' where id = (select min(id) from webhook_events)"); err != nil {
		t.Fatal(err)
	}
	if more, err := st.Hooks.DeleteOldWebhookEvents(t.Context()); more || err != nil {
		t.Error(more, err)
	}
	if got := heard(t, st, w); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestWebhookThatIsActiveAgain disables a webhook. While its waiting deliveries are marked as failed, an admin makes it
// active again. Deliveries of later events must then wait to be sent.
func TestWebhookThatIsActiveAgain(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn, watch := storetest.Open(t, url), storetest.Connect(t, url), storetest.Connect(t, url)
	tenant, w := storetest.Hooked(t, st)
	commentOn(t, st, tenant)
	commentOn(t, st, tenant)
	due, ok, err := st.Hooks.NextDelivery(t.Context(), w.ID)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	slow, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const lock = "select from webhook_deliveries where id <> $1 for update"
	if _, err := slow.Exec(t.Context(), lock, due.Delivery.ID); err != nil {
		t.Fatal(err)
	}
	recorded := make(chan error, 1)
	go func() {
		recorded <- st.Hooks.RecordDelivery(t.Context(), w.ID, due.Delivery.ID, hooks.DeliveryResult{
			URL: w.Url, At: time.Now(), Reason: "it is gone", Disable: "it is gone",
		})
	}()
	eventually.True(t, "the deliveries to be marked", func() bool {
		var waiting bool
		err := watch.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0)`).Scan(&waiting)
		return err == nil && waiting
	})
	if _, err := st.Hooks.UpdateWebhook(
		t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{Active: new(true)},
	); err != nil {
		t.Fatal(err)
	}
	commentOn(t, st, tenant)
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-recorded; err != nil {
		t.Fatal(err)
	}
	want := []string{schema.DeliveryFailed, schema.DeliveryFailed, schema.DeliveryPending}
	if got := states(t, st, w); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInactiveWebhooksRetryNothing gives a webhook another address and makes it inactive during an attempt. The failed
// delivery is not sent again.
func TestInactiveWebhooksRetryNothing(t *testing.T) {
	t.Parallel()
	for name, active := range map[string]bool{"active": true, "inactive": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := storetest.New(t)
			tenant, w := storetest.Hooked(t, st)
			commentOn(t, st, tenant)
			due, ok, err := st.Hooks.NextDelivery(t.Context(), w.ID)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if _, err := st.Hooks.UpdateWebhook(t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{
				URL: new("https://other.example.com/"), Active: &active,
			}); err != nil {
				t.Fatal(err)
			}
			if err := st.Hooks.RecordDelivery(t.Context(), w.ID, due.Delivery.ID, hooks.DeliveryResult{
				URL: w.Url, At: time.Now(), Reason: "it is gone",
			}); err != nil {
				t.Fatal(err)
			}
			want := schema.DeliveryFailed
			if active {
				want = schema.DeliveryPending
			}
			if got := states(t, st, w); !slices.Equal(got, []string{want}) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// states returns the states of a webhook's deliveries, in order.
func states(t testing.TB, st *store.Store, w hooks.Webhook) (list []string) {
	t.Helper()
	page, err := st.Hooks.ListWebhookDeliveries(
		t.Context(), w.OrganizationID, w.ID, hooks.WebhookDeliveryFilter{}, "", 1000,
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range page.Rows {
		list = append(list, d.WebhookDelivery.State)
	}
	slices.Reverse(list)
	return list
}
