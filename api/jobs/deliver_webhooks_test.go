package jobs

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/webhooks"
	"github.com/octavo-docs/octavo/api/remote/webhooks/webhookstest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/storetest"
)

// hookBench is a bench with an organization that has webhooks.
type hookBench struct {
	*bench
	tenant *storetest.Tenant
}

func newHooks(t *testing.T) *hookBench {
	b := newBench(t)
	return &hookBench{b, storetest.NewTenant(t, b.st, "ours")}
}

// hook creates an active webhook that sends these events to a receiver.
func (h *hookBench) hook(r *webhookstest.Receiver, events ...string) hooks.Webhook {
	h.t.Helper()
	row, secret, err := h.st.Hooks.CreateWebhook(h.t.Context(), hooks.NewWebhook{
		OrganizationID: h.tenant.Organization.ID, URL: r.URL + "/hook", Events: events, Active: true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	r.Knows(secret)
	return row
}

// happen causes an event of this type for each subject.
func (h *hookBench) happen(eventType string, subjects ...string) {
	h.t.Helper()
	for _, subject := range subjects {
		_, err := h.conn.Exec(h.t.Context(), "select webhook_event($1, $2, $3, null, jsonb_build_object('id', $3::text, 'space', 's'))",
			h.tenant.Organization.ID, eventType, subject)
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

// deliver starts a runner that delivers events and waits this long for a receiver's response.
func (h *hookBench) deliver(timeout time.Duration, options ...func(*Config)) (stop func()) {
	h.t.Helper()
	client := webhooks.New(webhooks.Config{Guard: outboundtest.Guard(h.t, outboundtest.Loopback), Timeout: timeout})
	return h.run(nil, append([]func(*Config){func(c *Config) {
		c.Kinds, c.Deps.Webhooks = []Kind{kind(deliverWebhooks)}, client
	}}, options...)...)
}

// pass moves the stored times of a webhook and of its deliveries into the past, as if this much time had passed.
func (h *hookBench) pass(webhook hooks.Webhook, by time.Duration) {
	h.t.Helper()
	err := pgx.BeginFunc(h.t.Context(), h.conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(h.t.Context(), `update webhooks set held_until = held_until - $2::interval, due_at = due_at - $2::interval,
			failing_since = failing_since - $2::interval, former_until = former_until - $2::interval where id = $1`, webhook.ID, by)
		if err == nil {
			_, err = tx.Exec(h.t.Context(), `update webhook_deliveries set next_attempt_at = next_attempt_at - $2::interval,
				created_at = created_at - $2::interval where webhook_id = $1`, webhook.ID, by)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hookBench) webhook(w hooks.Webhook) hooks.Webhook {
	h.t.Helper()
	row, err := h.st.Hooks.Webhook(h.t.Context(), w.OrganizationID, w.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return row
}

// deliveries returns a webhook's deliveries, oldest first.
func (h *hookBench) deliveries(w hooks.Webhook) []hooks.WebhookDelivery {
	h.t.Helper()
	page, err := h.st.Hooks.ListWebhookDeliveries(
		h.t.Context(), w.OrganizationID, w.ID, hooks.WebhookDeliveryFilter{}, "", 1000,
	)
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Reverse(page.Rows)
	return page.Rows
}

// states returns the state and the number of attempts of each delivery of a webhook, as text.
func (h *hookBench) states(w hooks.Webhook) string {
	h.t.Helper()
	var states []string
	for _, d := range h.deliveries(w) {
		states = append(states, fmt.Sprintf("%s %d", d.WebhookDelivery.State, d.WebhookDelivery.Attempts))
	}
	return strings.Join(states, ", ")
}

// untilStates waits until the deliveries of a webhook are in these states, and the webhook's job has ended.
func (h *hookBench) untilStates(w hooks.Webhook, want string) {
	h.t.Helper()
	eventually.Succeeds(h.t, want, func() error {
		got := h.states(w)
		open, err := h.st.Queue.Totals(h.t.Context())
		if err != nil {
			return err
		}
		if got != want || slices.ContainsFunc(open, func(t queue.Totals) bool { return t.Open > 0 }) {
			return fmt.Errorf("%s, %+v", got, open)
		}
		return nil
	})
}

func ids(messages []webhookstest.Received) []string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestWebhooksHear uses a webhook for all types of events, and a webhook for a single type. Each webhook gets its
// events once and in order. An event for both webhooks has the same id in both deliveries. Webhooks for other types,
// inactive webhooks and other organizations' webhooks get nothing.
func TestWebhooksHear(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	all, some, none, paused := webhookstest.New(t), webhookstest.New(t), webhookstest.New(t), webhookstest.New(t)
	first, second := h.hook(all), h.hook(some, "comment.created")
	h.hook(none, "cluster.muted")
	no := false
	if _, err := h.st.Hooks.UpdateWebhook(
		t.Context(), h.tenant.Organization.ID, h.hook(paused).ID, hooks.WebhookChange{Active: &no},
	); err != nil {
		t.Fatal(err)
	}
	theirs := *h
	theirs.tenant = storetest.NewTenant(t, h.st, "theirs")
	theirs.hook(none)
	h.happen("comment.created", "a", "b")
	h.happen("comment.resolved", "a")
	h.deliver(0)
	h.untilStates(first, "delivered 1, delivered 1, delivered 1")
	h.untilStates(second, "delivered 1, delivered 1")
	if got := all.Types(); !slices.Equal(got, []string{"comment.created", "comment.created", "comment.resolved"}) {
		t.Errorf("%q", got)
	}
	if got, want := ids(some.Received()), ids(all.Received())[:2]; !slices.Equal(got, want) {
		t.Errorf("the same event has the ids %q and %q", got, want)
	}
	h.happen("comment.created", "c")
	h.untilStates(second, "delivered 1, delivered 1, delivered 1")
	if got := all.Received(); len(got) != 4 || got[3].Data["id"] != "c" {
		t.Errorf("%+v", got)
	}
	if len(none.Received())+len(paused.Received()) > 0 {
		t.Errorf("%+v %+v", none.Received(), paused.Received())
	}
}

// TestWebhookRetries uses a receiver that fails at first. The events wait until the receiver succeeds. They then arrive
// in order, with the ids of the first attempt.
func TestWebhookRetries(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	r.Answers(func(n int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		if n < 2 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("we are down"))
		}
	})
	h.happen("comment.created", "a", "b")
	h.deliver(0)
	h.untilStates(w, "pending 1, pending 0")
	d := h.deliveries(w)[0].WebhookDelivery
	if got := h.webhook(w); got.Failures != 1 || got.HeldUntil == nil || got.FailingSince == nil || *d.StatusCode != 500 || *d.Response != "we are down" || !strings.HasSuffix(*d.Reason, " answered 500") {
		t.Errorf("%+v %+v", got, d)
	}
	h.pass(w, 6*time.Second)
	h.untilStates(w, "pending 2, pending 0")
	h.pass(w, 34*time.Second)
	h.untilStates(w, "delivered 3, delivered 1")
	got := ids(r.Received())
	if len(got) != 4 || got[0] != got[1] || got[1] != got[2] || got[3] == got[2] {
		t.Errorf("%q", got)
	}
	if messages := r.Received(); string(messages[0].Body) != string(messages[2].Body) {
		t.Errorf("%s\n%s", messages[0].Body, messages[2].Body)
	}
	if got := h.webhook(w); got.Failures != 0 || got.HeldUntil != nil || got.FailingSince != nil {
		t.Errorf("%+v", got)
	}
}

// TestPausesKeepTheOrder: after the first failures, the delivery's pause and the webhook's pause end at the same time.
// So a later delivery does not overtake the delivery that failed.
func TestPausesKeepTheOrder(t *testing.T) {
	t.Parallel()
	for range 100 {
		for failures := range int32(3) {
			var due hooks.DueDelivery
			due.Webhook.Failures, due.Delivery.Attempts = failures, failures
			r := judge(due, webhooks.Result{Reason: "it is down"})
			if together := *r.Pause == r.Hold; together != (failures < 2) || *r.Pause < r.Hold {
				t.Fatalf("after %d failures, the delivery is due %s after the hold", failures, *r.Pause-r.Hold)
			}
		}
	}
}

// TestWebhookStepsAside uses an event that the receiver always refuses. Later events overtake this event. After the
// last retry its delivery fails.
func TestWebhookStepsAside(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	r.Answers(func(_ int, m webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		if m.Data["id"] == "poison" {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	h.happen("comment.created", "poison", "b", "c")
	h.deliver(0)
	h.untilStates(w, "pending 1, pending 0, pending 0")
	h.pass(w, 6*time.Second)
	h.untilStates(w, "pending 2, pending 0, pending 0")
	h.pass(w, 34*time.Second)
	h.untilStates(w, "pending 3, pending 0, pending 0")
	h.pass(w, 3*time.Minute)
	h.untilStates(w, "pending 3, delivered 1, delivered 1")
	for n := 4; n <= len(deliveryPauses); n++ {
		h.pass(w, deliveryPauses[n-2]*11/10)
		h.untilStates(w, fmt.Sprintf("pending %d, delivered 1, delivered 1", n))
	}
	h.pass(w, deliveryPauses[len(deliveryPauses)-1]*11/10)
	h.untilStates(w, fmt.Sprintf("failed %d, delivered 1, delivered 1", len(deliveryPauses)+1))
	if got := h.webhook(w); !got.Active {
		t.Errorf("one event disabled the webhook: %+v", got)
	}
	// A user sends the event again after the receiver is fixed.
	r.Answers(webhookstest.Status(http.StatusOK))
	again, err := h.st.Hooks.Redeliver(t.Context(), w.OrganizationID, w.ID, h.deliveries(w)[0].WebhookDelivery.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.untilStates(w, fmt.Sprintf("failed %d, delivered 1, delivered 1, delivered 1", len(deliveryPauses)+1))
	if all := r.Received(); all[len(all)-1].ID != all[0].ID || *again.WebhookDelivery.Redelivers == again.WebhookDelivery.ID {
		t.Errorf("%+v %+v", all[len(all)-1], again)
	}
}

// TestWebhookIsDisabled: a webhook is disabled if its receiver answers 410 Gone, or fails for days.
func TestWebhookIsDisabled(t *testing.T) {
	t.Parallel()
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		h := newHooks(t)
		r := webhookstest.New(t)
		w := h.hook(r)
		r.Answers(webhookstest.Status(http.StatusGone))
		h.happen("comment.created", "a", "b")
		h.deliver(0)
		h.untilStates(w, "failed 1, failed 0")
		got := h.webhook(w)
		if got.Active || got.DisabledAt == nil || !strings.HasSuffix(*got.DisabledReason, " answered 410") {
			t.Errorf("%+v", got)
		}
		if d := h.deliveries(w)[1].WebhookDelivery; !strings.HasPrefix(*d.Reason, "the webhook was disabled: ") {
			t.Errorf("%+v", d)
		}
		h.happen("comment.created", "c")
		if got := h.states(w); got != "failed 1, failed 0" {
			t.Errorf("one that is disabled hears: %s", got)
		}
		if _, err := h.st.Hooks.PingWebhook(
			t.Context(), w.OrganizationID, w.ID, h.tenant.Users[schema.RoleAdmin].ID,
		); !schema.IsCode(err, schema.CodeConflict) {
			t.Errorf("%v", err)
		}
		// After the webhook is enabled again, its failures are counted from zero.
		r.Answers(webhookstest.Status(http.StatusOK))
		yes := true
		if back, err := h.st.Hooks.UpdateWebhook(
			t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{Active: &yes},
		); err != nil || back.DisabledAt != nil || back.Failures != 0 {
			t.Errorf("%+v %v", back, err)
		}
		h.happen("comment.created", "d")
		h.untilStates(w, "failed 1, failed 0, delivered 1")
	})
	t.Run("failing for days", func(t *testing.T) {
		t.Parallel()
		h := newHooks(t)
		r := webhookstest.New(t)
		w := h.hook(r)
		r.Close()
		h.happen("comment.created", "a", "b")
		h.deliver(0)
		h.untilStates(w, "pending 1, pending 0")
		h.pass(w, 80*time.Hour)
		h.untilStates(w, "failed 2, failed 0")
		if got := h.webhook(w); got.Active || !strings.HasPrefix(*got.DisabledReason, "nothing was delivered for 80 hours; the last failure: 127.0.0.1") {
			t.Errorf("%+v", got)
		}
	})
}

// TestWebhookPauses deactivates a webhook that has pending deliveries. The deliveries are sent when the webhook is
// active again. Events during the inactive time are not sent.
func TestWebhookPauses(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	change := func(active bool) {
		t.Helper()
		if _, err := h.st.Hooks.UpdateWebhook(
			t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{Active: &active},
		); err != nil {
			t.Fatal(err)
		}
	}
	h.happen("comment.created", "old")
	h.pass(w, 4*24*time.Hour)
	h.happen("comment.created", "a")
	change(false)
	h.happen("comment.created", "b")
	if err := h.st.Hooks.AskForDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	if jobs := h.jobsOf(w); len(jobs) > 0 {
		t.Errorf("%+v", jobs)
	}
	change(true)
	h.deliver(0)
	// The old delivery is sent too, because no attempt to deliver it has failed.
	h.untilStates(w, "delivered 1, delivered 1")
}

// moves gives a webhook the address of another receiver.
func (h *hookBench) moves(w hooks.Webhook, to *webhookstest.Receiver) {
	h.t.Helper()
	address := to.URL + "/hook"
	got, err := h.st.Hooks.UpdateWebhook(h.t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{URL: &address})
	if err != nil || got.Url != address || got.Failures != 0 || got.FailingSince != nil || got.HeldUntil != nil {
		h.t.Errorf("%+v %v", got, err)
	}
}

// TestWebhookMoves changes the address of a webhook after failures. The failures of the old address delay nothing at
// the new address, and do not help to disable the webhook. If a change leaves the address unchanged, the failures stay.
func TestWebhookMoves(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	old, fresh := webhookstest.New(t), webhookstest.New(t)
	w := h.hook(old)
	old.Answers(func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	h.happen("comment.created", "a")
	h.deliver(0)
	h.untilStates(w, "pending 1")
	h.happen("comment.created", "b")
	same, text := w.Url, "with another description"
	got, err := h.st.Hooks.UpdateWebhook(t.Context(), w.OrganizationID, w.ID, hooks.WebhookChange{
		URL: &same, Description: &text,
	})
	if err != nil || got.Failures != 1 || got.FailingSince == nil || got.HeldUntil == nil {
		t.Errorf("the same address: %+v %v", got, err)
	}
	h.moves(w, fresh)
	h.untilStates(w, "delivered 2, delivered 1")
	if n := len(fresh.Received()); n != 2 {
		t.Errorf("the new address got %d messages", n)
	}
}

// TestWebhookMovesDuringAttempt changes the address of a webhook while the old receiver has not answered a message yet.
// Whatever that receiver answers, the new receiver gets the message.
func TestWebhookMovesDuringAttempt(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusGone, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			h := newHooks(t)
			old, fresh := webhookstest.New(t), webhookstest.New(t)
			w := h.hook(old)
			waiting, done := make(chan struct{}, 10), make(chan struct{})
			old.Answers(func(_ int, _ webhookstest.Received, w http.ResponseWriter, r *http.Request) {
				waiting <- struct{}{}
				select {
				case <-done:
				case <-r.Context().Done():
				}
				w.Header().Set("Retry-After", "86400")
				w.WriteHeader(status)
			})
			h.happen("comment.created", "a", "b")
			h.deliver(eventually.Patience)
			receive(t, waiting)
			h.moves(w, fresh)
			close(done)
			h.untilStates(w, "delivered 2, delivered 1")
			got := h.webhook(w)
			if !got.Active || got.Failures != 0 || got.HeldUntil != nil || len(fresh.Received()) != 2 {
				t.Errorf("%+v, %d messages", got, len(fresh.Received()))
			}
		})
	}
}

func (h *hookBench) jobsOf(w hooks.Webhook) []schema.Job {
	h.t.Helper()
	page, err := h.st.Queue.List(h.t.Context(), w.OrganizationID, queue.Filter{}, "", 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return page.Rows
}

// TestOldDeliveriesFail: a delivery that is older than three days fails if its attempt fails, or if an earlier
// delivery's attempt fails.
func TestOldDeliveriesFail(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	h.happen("comment.created", "a", "b")
	if _, err := h.conn.Exec(t.Context(), "update webhook_deliveries set created_at = created_at - interval '73 hours' where webhook_id = $1", w.ID); err != nil {
		t.Fatal(err)
	}
	r.Answers(webhookstest.Status(http.StatusServiceUnavailable))
	h.deliver(0)
	h.untilStates(w, "failed 1, failed 0")
	for i, want := range []string{" answered 503", "it could not be delivered within three days"} {
		if d := h.deliveries(w)[i].WebhookDelivery; !strings.HasSuffix(*d.Reason, want) || d.SettledAt == nil {
			t.Errorf("%+v", d)
		}
	}
}

// TestSlowReceiver: a fast receiver does not wait for a slow receiver of its organization.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	slow, fast := webhookstest.New(t), webhookstest.New(t)
	waiting, done := make(chan struct{}, 10), make(chan struct{})
	slow.Answers(func(_ int, _ webhookstest.Received, _ http.ResponseWriter, r *http.Request) {
		waiting <- struct{}{}
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	w, other := h.hook(slow), h.hook(fast)
	h.happen("comment.created", "a")
	h.deliver(eventually.Patience)
	receive(t, waiting)
	var subjects []string
	for i := range 50 {
		subjects = append(subjects, fmt.Sprint(i))
	}
	h.happen("comment.created", subjects...)
	eventually.True(t, "all events at the fast receiver", func() bool { return len(fast.Received()) == 51 })
	if got := h.states(w); !strings.HasPrefix(got, "pending 0, pending 0") {
		t.Errorf("the slow one: %s", got)
	}
	slow.Answers(webhookstest.Status(http.StatusOK))
	close(done)
	h.untilStates(w, strings.TrimSuffix(strings.Repeat("delivered 1, ", 51), ", "))
	h.untilStates(other, strings.TrimSuffix(strings.Repeat("delivered 1, ", 51), ", "))
}

// TestReceiverTimesOut: if a receiver does not answer in time, the delivery is sent again.
func TestReceiverTimesOut(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	r.Answers(func(n int, _ webhookstest.Received, _ http.ResponseWriter, r *http.Request) {
		if n == 0 {
			<-r.Context().Done()
		}
	})
	h.happen("comment.created", "a")
	h.deliver(200 * time.Millisecond)
	h.untilStates(w, "pending 1")
	if d := h.deliveries(w)[0].WebhookDelivery; d.StatusCode != nil || !strings.HasSuffix(*d.Reason, "did not answer in time") {
		t.Errorf("%+v", d)
	}
	h.pass(w, 6*time.Second)
	h.untilStates(w, "delivered 2")
}

// TestRetryAfterIsHonoured: if a receiver sends Retry-After with one hour, Octavo sends nothing to it for an hour.
// Events in that hour enqueue no job.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	r.Answers(func(_ int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	h.happen("comment.created", "a")
	stop := h.deliver(0)
	h.untilStates(w, "pending 1")
	got, hour := h.webhook(w), time.Now().Add(time.Hour)
	for _, at := range []*time.Time{got.HeldUntil, got.DueAt, h.deliveries(w)[0].WebhookDelivery.NextAttemptAt} {
		if at == nil || at.Sub(hour).Abs() > time.Minute {
			t.Errorf("%v, want %v", at, hour)
		}
	}
	stop()
	before := len(h.jobsOf(w))
	h.happen("comment.created", "b", "c")
	if err := h.st.Hooks.AskForDeliveries(t.Context()); err != nil || len(h.jobsOf(w)) != before {
		t.Errorf("%d jobs, then %d: %v", before, len(h.jobsOf(w)), err)
	}
	r.Answers(webhookstest.Status(http.StatusOK))
	h.pass(w, 2*time.Hour)
	h.deliver(0)
	h.untilStates(w, "delivered 2, delivered 1, delivered 1")
}

// TestWebhookRestart stops a node before a receiver has answered. It ends another node's job after the receiver has
// answered and before the job has recorded this. No message is lost, and a message that is sent again has the same id.
func TestWebhookRestart(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	waiting := make(chan struct{}, 10)
	r.Answers(func(n int, _ webhookstest.Received, _ http.ResponseWriter, r *http.Request) {
		if n == 1 {
			waiting <- struct{}{}
			<-r.Context().Done()
		}
	})
	h.happen("comment.created", "a", "b", "c")
	stop := h.deliver(eventually.Patience, func(c *Config) { c.Grace = time.Millisecond })
	receive(t, waiting)
	stop()
	if got := h.states(w); got != "delivered 1, pending 0, pending 0" {
		t.Errorf("an attempt that nobody saw the end of counts: %s", got)
	}
	// The job ends after the receiver's answer, and the database rolls back the job's transaction.
	died := make(chan struct{})
	var once sync.Once
	dying := h.run(nil, func(c *Config) {
		c.Kinds = []Kind{kind(func(ctx context.Context, d Deps, args schema.DeliverWebhooks) error {
			due, ok, err := d.Store.Hooks.NextDelivery(ctx, args.Webhook)
			if err != nil || !ok {
				return err
			}
			d.Webhooks.Send(ctx, webhooks.Message{ID: due.Event.ID, URL: due.Webhook.Url, Keys: due.Keys, Body: []byte(`{"id":"` + due.Event.ID + `","organization":"o","createdAt":"2026-01-01T00:00:00Z"}`)})
			once.Do(func() { close(died) })
			<-ctx.Done()
			return ctx.Err()
		})}
		c.Deps.Webhooks, c.Grace = webhooks.New(webhooks.Config{Guard: outboundtest.Guard(t, outboundtest.Loopback)}), time.Millisecond
	})
	receive(t, died)
	dying()
	h.deliver(0)
	h.untilStates(w, "delivered 1, delivered 1, delivered 1")
	got := ids(r.Received())
	if want := slices.Compact(slices.Clone(got)); len(got) != 5 || len(want) != 3 || got[1] != got[2] || got[2] != got[3] {
		t.Errorf("%q", got)
	}
}

// TestWebhookJobIsLost: a webhook with a due delivery gets a new job if its job is lost, or has failed and is not
// retried.
func TestWebhookJobIsLost(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	h.happen("comment.created", "a")
	// The delivery is marked as if a job had been requested for it, and there is no job.
	if _, err := h.conn.Exec(t.Context(), "update webhook_deliveries set asked = true"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.conn.Exec(t.Context(), "update webhooks set due_at = now() where id = $1", w.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.st.Hooks.AskForDeliveries(t.Context()); err != nil || len(h.jobsOf(w)) != 1 {
		t.Fatalf("%v %v", err, h.jobsOf(w))
	}
	if _, err := h.conn.Exec(t.Context(), "update river_job set state = 'discarded', finalized_at = now()"); err != nil {
		t.Fatal(err)
	}
	if due := h.webhook(w).DueAt; due == nil || time.Until(*due) < time.Minute {
		t.Errorf("%v", due)
	}
	h.pass(w, time.Hour)
	h.deliver(0)
	eventually.True(t, "the event to be delivered", func() bool { return h.states(w) == "delivered 1" })
}

// TestWebhookSecretRotation: for a day after a rotation, messages are signed with both secrets. After that day they are
// signed only with the newer secret.
func TestWebhookSecretRotation(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r)
	h.deliver(0)
	_, newer, err := h.st.Hooks.RotateWebhookSecret(t.Context(), w.OrganizationID, w.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.happen("comment.created", "with the former secret")
	h.untilStates(w, "delivered 1")
	r.Knows(newer)
	h.happen("comment.created", "with the newer secret")
	h.untilStates(w, "delivered 1, delivered 1")
	h.pass(w, 25*time.Hour)
	h.happen("comment.created", "after a day")
	h.untilStates(w, "delivered 1, delivered 1, delivered 1")
	for i, want := range []int{2, 2, 1} {
		if got := strings.Fields(r.Received()[i].Signature); len(got) != want {
			t.Errorf("message %d has the signatures %q", i, got)
		}
	}
}

// TestPingGoesFirst: a test delivery does not wait for the webhook's pause or for other deliveries.
func TestPingGoesFirst(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	r := webhookstest.New(t)
	w := h.hook(r, "comment.created")
	r.Answers(func(n int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	h.happen("comment.created", "a", "b")
	h.deliver(0)
	h.untilStates(w, "pending 1, pending 0")
	if _, err := h.st.Hooks.PingWebhook(
		t.Context(), w.OrganizationID, w.ID, h.tenant.Users[schema.RoleAdmin].ID,
	); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the ping", func() bool { return len(r.Received()) >= 3 })
	if got := r.Received()[1]; got.Type != schema.WebhookPing || got.Actor != h.tenant.Users[schema.RoleAdmin].ID {
		t.Errorf("%+v", got)
	}
	// If a user requests a pending delivery again, this delivery is sent now. No new delivery is created.
	waiting := h.deliveries(w)[0].WebhookDelivery
	if again, err := h.st.Hooks.Redeliver(
		t.Context(), w.OrganizationID, w.ID, waiting.ID,
	); err != nil || waiting.State == schema.DeliveryPending && again.WebhookDelivery.ID != waiting.ID {
		t.Errorf("%+v %v", again, err)
	}
	eventually.True(t, "the waiting delivery", func() bool {
		return strings.HasPrefix(h.states(w), "delivered 2, delivered 1, delivered 1")
	})
}

// TestManyWebhooksManyEvents stops a node at random points while it and another node deliver many events. Each webhook
// gets every event. Apart from repeats, the events arrive in order.
func TestManyWebhooksManyEvents(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	const receivers, events = 3, 40
	var rs []*webhookstest.Receiver
	for range receivers {
		r := webhookstest.New(t)
		h.hook(r)
		rs = append(rs, r)
	}
	var subjects []string
	for i := range events {
		subjects = append(subjects, fmt.Sprint(i))
	}
	h.deliver(0)
	stop := h.deliver(0, func(c *Config) { c.Grace = time.Millisecond })
	for i, part := range [][]string{subjects[:10], subjects[10:20], subjects[20:30], subjects[30:]} {
		h.happen("comment.created", part...)
		stop()
		if i < 3 {
			stop = h.deliver(0, func(c *Config) { c.Grace = time.Millisecond })
		}
	}
	for _, r := range rs {
		eventually.True(t, "every event", func() bool {
			seen := map[any]bool{}
			for _, m := range r.Received() {
				seen[m.Data["id"]] = true
			}
			return len(seen) == events
		})
		var order []string
		for _, m := range r.Received() {
			if id, _ := m.Data["id"].(string); !slices.Contains(order, id) {
				order = append(order, id)
			}
		}
		if !slices.Equal(order, subjects) {
			t.Errorf("%q", order)
		}
	}
}

// TestLongestPausesStay: the SQL function hasten shortens stored pauses that are longer than any pause of this code. It
// leaves the longest pauses of this code unchanged. Longer pauses come from a clock that was ahead.
func TestLongestPausesStay(t *testing.T) {
	t.Parallel()
	h := newHooks(t)
	w := h.hook(webhookstest.New(t))
	h.happen("comment.created", "a")
	due, found, err := h.st.Hooks.NextDelivery(t.Context(), w.ID)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	due.Delivery.Attempts, due.Webhook.Failures = int32(len(deliveryPauses)-1), 100
	longest := time.Duration(0)
	for range 100 {
		r := judge(due, webhooks.Result{Reason: "it is down", RetryAfter: webhooks.LongestRetryAfter})
		longest = max(longest, *r.Pause)
		if err := h.st.Hooks.RecordDelivery(t.Context(), w.ID, due.Delivery.ID, r); err != nil {
			t.Fatal(err)
		}
		hastened, err := h.st.Clock.Hasten(t.Context(), longestPauses(time.Minute))
		if err != nil || len(hastened) > 0 {
			t.Fatalf("after a pause of %s: %v, %v", *r.Pause, hastened, err)
		}
	}
	if longest < deliveryPauses[len(deliveryPauses)-1] {
		t.Errorf("the longest pause was %s", longest)
	}
	if got := longestPauses(3 * 24 * time.Hour); got.Fetch < 3*24*time.Hour*11/10 || got.Job < pause(1000) {
		t.Errorf("%+v", got)
	}
}
