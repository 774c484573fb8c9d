package queue_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/clock"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// inOrder is a job of a kind whose jobs all run, one after the other.
type inOrder struct {
	Space string `json:"space"`
	N     int    `json:"n"`
}

func (inOrder) Kind() string { return "in_order" }

func (j inOrder) JobKind() schema.JobKind {
	return schema.JobKind{Name: j.Kind(), Order: schema.JobsInOrder, Workers: 4, Attempts: 3, Timeout: time.Minute}
}

func (j inOrder) Subject() schema.JobSubject {
	return schema.JobSubject{Organization: "o" + j.Space, Space: j.Space}
}

var errRollback = errors.New("as the test wants it")

// states returns a text with the state of each job, in the order of the jobs' ids.
func states(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return storetest.Collect(t, conn,
		"select kind || coalesce(' ' || (args ->> 'n'), '') || ' ' || state from river_job order by id")
}

// TestRiverJobIsAsDescribed compares the table that rivermigrate creates with the description that sqlc reads.
func TestRiverJobIsAsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../river/river_job.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn := storetest.Connect(t, storetest.URL(t))
	var described []string
	columns := regexp.MustCompile(`(?m)^    (\w+) (bigserial|\S+) ?(not null|primary key)?`)
	for _, match := range columns.FindAllStringSubmatch(
		regexp.MustCompile(`(?s)create table.*`).FindString(string(text)), -1) {
		name, kind := match[1], match[2]
		kind = map[string]string{
			"bigserial": "bigint", "timestamptz": "timestamp with time zone",
			"varchar(255)[]": "character varying(255)[]",
		}[kind]
		if kind == "" {
			kind = regexp.MustCompile(`,$`).ReplaceAllString(match[2], "")
			if kind == "timestamptz" {
				kind = "timestamp with time zone"
			}
		}
		described = append(described, fmt.Sprintf("%s %s %v", name, kind, match[3] != ""))
	}
	there := storetest.Collect(t, conn,
		`select format('%s %s %s', attname, format_type(atttypid, atttypmod), case when attnotnull then 'true' else 'false' end)
		from pg_attribute where attrelid = 'river_job'::regclass and attnum > 0 and not attisdropped`)
	slices.Sort(described)
	slices.Sort(there)
	if !slices.Equal(described, there) || len(there) == 0 {
		t.Errorf("described: %q\nthere: %q", described, there)
	}
}

func TestJobsAreThoseOfCommittedTransactions(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if err := postgres.Enqueue(t.Context(), db.New(tx), inOrder{Space: "a"}); err != nil {
			return err
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	if got := states(t, conn); len(got) != 0 {
		t.Errorf("a rollback left %q", got)
	}
	storetest.Enqueue(t, conn, inOrder{Space: "a", N: 1}, inOrder{Space: "a", N: 2}, inOrder{Space: "b", N: 3})
	want := []string{"in_order 1 available", "in_order 2 pending", "in_order 3 available"}
	if got := states(t, conn); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	st := storetest.Open(t, url)
	promote := func() {
		t.Helper()
		if err := st.Queue.GiveTurns(t.Context(), []schema.JobKind{inOrder{}.JobKind()}); err != nil {
			t.Fatal(err)
		}
	}
	promote()
	if got := states(t, conn); !slices.Equal(got, want) {
		t.Errorf("a job was promoted before its turn: %q", got)
	}
	for _, state := range []string{"running", "retryable", "scheduled"} {
		const become = "update river_job set state = $1::text::river_job_state where args ->> 'n' = '1'"
		if _, err := conn.Exec(t.Context(), become, state); err != nil {
			t.Fatal(err)
		}
		promote()
		if got := states(t, conn)[1]; got != want[1] {
			t.Errorf("behind a %s job: %q", state, got)
		}
	}
	const discard = "update river_job set state = 'discarded', finalized_at = now() where args ->> 'n' = '1'"
	if _, err := conn.Exec(t.Context(), discard); err != nil {
		t.Fatal(err)
	}
	promote()
	if got := states(t, conn)[1]; got != "in_order 2 available" {
		t.Errorf("%q", got)
	}
	// A retried job runs next, after the running job.
	storetest.Enqueue(t, conn, inOrder{Space: "a", N: 4})
	ids := storetest.Collect(t, conn, "select id::text from river_job where args ->> 'n' = '1'")
	if job, err := st.Queue.Retry(t.Context(), "oa", ids[0]); err != nil || job.State != schema.JobWaiting ||
		job.Attempt != 0 {
		t.Fatalf("%+v %v", job, err)
	}
	promote()
	const complete = "update river_job set state = 'completed', finalized_at = now() where args ->> 'n' = '2'"
	if _, err := conn.Exec(t.Context(), complete); err != nil {
		t.Fatal(err)
	}
	promote()
	want = []string{"in_order 1 available", "in_order 2 completed", "in_order 3 available", "in_order 4 pending"}
	if got := states(t, conn); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestNewestJobStandsForThoseBefore enqueues several jobs of a kind for which one job is enough. A waiting job must
// make a second job unnecessary. A running job must not make it unnecessary, because the running job may have read
// the earlier state.
func TestNewestJobStandsForThoseBefore(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn, other := storetest.Connect(t, url), storetest.Connect(t, url)
	index := schema.IndexSpace{Organization: "o", Space: "s"}
	storetest.Enqueue(t, conn, index, index)
	if got := states(t, conn); !slices.Equal(got, []string{"index_space available"}) {
		t.Errorf("%q", got)
	}
	// A retried job does not start before the transaction that retried it ends, because a worker skips locked rows.
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := postgres.Enqueue(t.Context(), db.New(tx), index); err != nil {
		t.Fatal(err)
	}
	if free := storetest.Collect(t, other,
		"select id::text from river_job where state = 'available' for update skip locked"); len(free) != 0 {
		t.Errorf("a worker may take %q", free)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "update river_job set state = 'running'"); err != nil {
		t.Fatal(err)
	}
	storetest.Enqueue(t, conn, index, index)
	if got := states(t, conn); !slices.Equal(got, []string{"index_space running", "index_space pending"}) {
		t.Errorf("%q", got)
	}
}

// TestNewsEndsThePause enqueues a job again while the job waits after a failure. The job must start at once, and this
// attempt must not use up an attempt of the job. Otherwise a busy site would use up all attempts while its front end
// is unavailable. A job of a kind that runs in order does not start earlier.
func TestNewsEndsThePause(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	storetest.Enqueue(t, conn, schema.IndexSpace{Organization: "o", Space: "s"}, schema.IndexSpace{
		Organization: "o", Space: "other",
	}, inOrder{Space: "s", N: 1})
	const retry = `update river_job set state = 'retryable', attempt = 3,
		scheduled_at = now() + interval '1 hour'`
	if _, err := conn.Exec(t.Context(), retry); err != nil {
		t.Fatal(err)
	}
	storetest.Enqueue(t, conn, schema.IndexSpace{Organization: "o", Space: "s"}, inOrder{Space: "s", N: 2})
	got := storetest.Collect(t, conn,
		`select kind || ' ' || coalesce(args ->> 'n', args ->> 'space') || ' ' || state || ' ' || attempt || ' ' || (scheduled_at > now())
		from river_job order by id`)
	want := []string{
		"index_space s retryable 2 false", "index_space other retryable 3 true", "in_order 1 retryable 3 true",
		"in_order 2 pending 0 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHasten sets the clock back by 400 days. Jobs that were enqueued before must still run, and river must elect a
// leader again. A job's pause before its
// next attempt must stay if a running node can have chosen it.
func TestHasten(t *testing.T) {
	t.Parallel()
	longest := clock.Pauses{Job: 2 * time.Hour, Fetch: 2 * time.Hour}
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	for _, sql := range []string{
		`insert into river_job (kind, state, scheduled_at, max_attempts, args) values
			('due', 'available', now(), 3, '{}'), ('ahead', 'available', now() + interval '400 days', 3, '{}'),
			('pause', 'retryable', now() + interval '1 hour', 3, '{}'),
			('ahead', 'retryable', now() + interval '400 days', 3, '{}'),
			('ahead', 'scheduled', now() + interval '400 days', 3, '{}')`,
		`insert into river_job (kind, state, scheduled_at, finalized_at, max_attempts, args) values
			('over', 'completed', now() + interval '400 days', now(), 3, '{}')`,
		`insert into river_leader (elected_at, expires_at, leader_id) values (now(), now() + interval '400 days', 'gone')`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int64{3, 0} {
		n, err := st.Clock.Hasten(t.Context(), longest)
		if n["river_job.scheduled_at"] != want || int64(len(n)) != min(want, 1) || err != nil {
			t.Errorf("%v, want %d, %v", n, want, err)
		}
	}
	waiting := storetest.Collect(t, conn, "select kind from river_job where scheduled_at > now() order by kind")
	leaders := storetest.Collect(t, conn, "select leader_id from river_leader")
	if fmt.Sprint(waiting, leaders) != "[over pause] []" {
		t.Errorf("%q wait, leaders %q", waiting, leaders)
	}
	if _, err := conn.Exec(t.Context(), `insert into river_leader (elected_at, expires_at, leader_id)
		values (now(), now() + interval '10 seconds', 'lives')`); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Clock.Hasten(t.Context(), longest); err != nil {
		t.Fatal(err)
	}
	if leaders := storetest.Collect(t, conn, "select leader_id from river_leader"); len(leaders) != 1 {
		t.Errorf("leaders %q", leaders)
	}
}
