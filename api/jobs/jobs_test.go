package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/storetest"
)

// step is a job that calls a function of the test.
type step struct {
	Space string `json:"space"`
	N     int    `json:"n"`
}

func (step) Kind() string { return "step" }

func (s step) JobKind() schema.JobKind {
	return schema.JobKind{
		Name: s.Kind(), Doc: "Does what a test wants.", Order: schema.JobsInOrder, Workers: 4, Slow: time.Minute,
		Attempts: 3, Timeout: eventually.Patience,
	}
}

func (s step) Subject() schema.JobSubject {
	return schema.JobSubject{Organization: "o", Space: s.Space}
}

// quickStep is a step with a time limit of 50 ms.
type quickStep struct{ step }

func (s quickStep) JobKind() schema.JobKind {
	row := s.step.JobKind()
	row.Timeout = 50 * time.Millisecond
	return row
}

type bench struct {
	t    testing.TB
	url  string
	st   *store.Store
	conn *pgx.Conn
	log  *buffer
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newBench(t testing.TB) *bench {
	t.Helper()
	url := storetest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &bench{t: t, url: url, st: storetest.Open(t, url), conn: conn, log: &buffer{}}
}

func (b *bench) ask(steps ...step) {
	b.t.Helper()
	for _, s := range steps {
		enqueue := func(tx pgx.Tx) error { return postgres.Enqueue(b.t.Context(), db.New(tx), s) }
		if err := pgx.BeginFunc(b.t.Context(), b.conn, enqueue); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run starts a runner. Its steps call `work`.
func (b *bench) run(work func(context.Context, step) error, options ...func(*Config)) (stop func()) {
	b.t.Helper()
	st := storetest.Open(b.t, b.url)
	pool, err := st.NewPool(b.t.Context(), PoolConns)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(pool.Close)
	cfg := Config{
		Deps: Deps{Store: st}, Pool: pool, Log: slog.New(slog.NewTextHandler(b.log, nil)), Poll: 20 * time.Millisecond,
		LostAfter: 200 * time.Millisecond, Pause: func(int) time.Duration { return time.Millisecond },
		Kinds: []Kind{kind(func(ctx context.Context, _ Deps, s step) error { return work(ctx, s) })},
	}
	for _, option := range options {
		option(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := r.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			b.t.Errorf("stop: %v", err)
		}
	})
	b.t.Cleanup(stop)
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.t.Log(b.log.String())
		}
	})
	return stop
}

func (b *bench) jobs() []schema.Job {
	b.t.Helper()
	page, err := b.st.Queue.List(b.t.Context(), "o", queue.Filter{}, "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Reverse(page.Rows)
	return page.Rows
}

// until waits until the jobs have these states. The states are in the order in which the jobs were enqueued.
func (b *bench) until(want ...schema.JobState) []schema.Job {
	b.t.Helper()
	deadline := time.Now().Add(eventually.Patience)
	for {
		jobs := b.jobs()
		var got []schema.JobState
		for _, job := range jobs {
			got = append(got, job.State)
		}
		if slices.Equal(got, want) {
			return jobs
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the jobs are %v, want %v", got, want)
		}
	}
}

func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(eventually.Patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// TestKinds checks every row of the table of kinds.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(k.Name) || seen[k.Name] {
				t.Error("the name is no snake case, or taken")
			}
			seen[k.Name] = true
			if !strings.HasSuffix(k.Doc, ".") || k.Workers < 2 || k.Slow <= 0 || k.Slow >= k.Timeout ||
				k.Attempts < 2 || k.Timeout < time.Second || k.Timeout > time.Hour {
				t.Errorf("%+v", k.JobKind)
			}
		})
	}
	if len(seen) == 0 {
		t.Error("there are no kinds")
	}
}

// TestOrder runs jobs of several spaces on two nodes. Some jobs fail at the first attempt. The jobs of a space run one
// after the other, in the order in which they were enqueued, and each succeeds once. Jobs of different spaces run at
// the same time.
func TestOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const spaces, each = 4, 6
	var mu sync.Mutex
	running, failed, ended := map[string]int{}, map[string]bool{}, map[string][]int{}
	together := make(chan struct{})
	work := func(ctx context.Context, s step) error {
		mu.Lock()
		running[s.Space]++
		if running[s.Space] > 1 {
			t.Errorf("two jobs of %s run at once", s.Space)
		}
		if s.N == 0 && len(running) == spaces {
			close(together)
		}
		name := fmt.Sprint(s)
		fails := s.N%3 == 1 && !failed[name]
		failed[name] = true
		mu.Unlock()
		if s.N == 0 {
			// Wait until a job of each space runs. This ends only if no space waits for another space.
			select {
			case <-together:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		running[s.Space]--
		if fails {
			return schema.Conflict("once")
		}
		ended[s.Space] = append(ended[s.Space], s.N)
		return nil
	}
	want := make([]schema.JobState, 0, spaces*each)
	for n := range each {
		for space := range spaces {
			b.ask(step{Space: fmt.Sprint("space", space), N: n})
			want = append(want, schema.JobDone)
		}
	}
	b.run(work)
	b.run(work)
	b.until(want...)
	mu.Lock()
	defer mu.Unlock()
	for space := range spaces {
		if got := ended[fmt.Sprint("space", space)]; !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("space %d: %v", space, got)
		}
	}
}

// TestFailedJobIsRetried uses jobs that have failed finally. The reason of such a job shows only texts that are for
// users. Retry runs the job again.
func TestFailedJobIsRetried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		panics bool
		reason string
	}{
		"public":   {err: &schema.Error{Code: schema.CodeUnavailable, Message: "the repository does not answer", Cause: errors.New("dial tcp secret")}, reason: "the repository does not answer"},
		"internal": {err: schema.Internal(errors.New("relation \"secret\" does not exist")), reason: internalReason},
		"other":    {err: errors.New("secret"), reason: internalReason},
		"panic":    {panics: true, reason: internalReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			var mu sync.Mutex
			well := false
			ended := make(chan schema.JobState, 10)
			metrics := NewMetrics(prometheus.NewRegistry())
			b.run(func(_ context.Context, _ step) error {
				mu.Lock()
				defer mu.Unlock()
				if well {
					return nil
				}
				if test.panics {
					panic("secret")
				}
				return test.err
			}, func(c *Config) { c.Metrics, c.Ended = metrics, func(s schema.JobState) { ended <- s } })
			b.ask(step{Space: "a"}, step{Space: "b"})
			for _, job := range b.until(schema.JobFailed, schema.JobFailed) {
				if job.Reason != test.reason || job.Attempt != 3 || job.FinishedAt == nil || job.NextAttemptAt != nil {
					t.Errorf("%+v", job)
				}
			}
			if log := b.log.String(); !strings.Contains(log, "secret") && test.err != nil && name != "public" || name == "public" && !strings.Contains(log, "dial tcp secret") {
				t.Errorf("the log does not have the cause: %s", log)
			}
			for range 6 {
				receive(t, ended)
			}
			if n := testutil.ToFloat64(metrics.attempts.WithLabelValues("step", "failed")); n != 2 {
				t.Errorf("%v failed attempts", n)
			}
			if n := testutil.ToFloat64(metrics.attempts.WithLabelValues("step", "retrying")); n != 4 {
				t.Errorf("%v attempts that are retried", n)
			}
			mu.Lock()
			well = true
			mu.Unlock()
			if _, err := b.st.Queue.Retry(t.Context(), "o", b.jobs()[0].ID); err != nil {
				t.Fatal(err)
			}
			if job := b.until(schema.JobDone, schema.JobFailed)[0]; job.Reason != "" || job.Attempt != 1 {
				t.Errorf("%+v", job)
			}
			if _, err := b.st.Queue.Retry(t.Context(), "o", b.jobs()[0].ID); !schema.IsCode(err, schema.CodeConflict) {
				t.Errorf("a job that is done: %v", err)
			}
		})
	}
}

// TestPauses: if a job waits an hour for its next attempt, Retry starts this attempt at once.
func TestPauses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tries := make(chan int, 10)
	b.run(func(context.Context, step) error {
		tries <- 1
		return schema.Conflict("not yet")
	}, func(c *Config) { c.Pause = func(int) time.Duration { return time.Hour } })
	b.ask(step{Space: "a"})
	receive(t, tries)
	job := b.until(schema.JobRetrying)[0]
	if job.Reason != "not yet" || job.Attempt != 1 || job.NextAttemptAt == nil || time.Until(*job.NextAttemptAt) < 50*time.Minute {
		t.Errorf("%+v", job)
	}
	if _, err := b.st.Queue.Retry(t.Context(), "o", job.ID); err != nil {
		t.Fatal(err)
	}
	receive(t, tries)
	for attempt, want := range map[int]time.Duration{1: time.Second, 3: 81 * time.Second, 20: time.Hour} {
		if got := pause(attempt); got < want || got > want+want/10 {
			t.Errorf("after attempt %d: %v", attempt, got)
		}
	}
}

// TestTimeout: a job that exceeds its time limit fails, and its reason names the limit.
func TestTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run(nil, func(c *Config) {
		c.Kinds = []Kind{kind(func(ctx context.Context, _ Deps, _ quickStep) error { <-ctx.Done(); return ctx.Err() })}
	})
	b.ask(step{Space: "a"})
	if job := b.until(schema.JobFailed)[0]; job.Reason != "it did not finish within 50ms" {
		t.Errorf("%+v", job)
	}
}

// TestStop stops a node that runs two jobs. A job that ends within the grace time is done. The other job goes back to
// the queue without a failure, and runs on another node.
func TestStop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	started, finish := make(chan struct{}, 2), make(chan struct{})
	stop := b.run(func(ctx context.Context, s step) error {
		started <- struct{}{}
		if s.N == 1 {
			<-finish
			return nil
		}
		<-ctx.Done()
		return fmt.Errorf("cut off: %w", ctx.Err())
	}, func(c *Config) { c.Grace = 500 * time.Millisecond })
	b.ask(step{Space: "a", N: 1}, step{Space: "b", N: 2})
	receive(t, started)
	receive(t, started)
	b.ask(step{Space: "c", N: 3})
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	close(finish)
	receive(t, stopped)
	jobs := b.jobs()
	if jobs[0].State != schema.JobDone || jobs[1].State != schema.JobWaiting || jobs[1].Attempt != 0 || jobs[1].Reason != "" {
		t.Errorf("%+v", jobs)
	}
	b.run(func(context.Context, step) error { return nil })
	b.until(schema.JobDone, schema.JobDone, schema.JobDone)
}

// singleStep is a step, and a node runs only one such step at a time. So the process that the test kills runs only one
// step.
type singleStep struct{ step }

func (s singleStep) JobKind() schema.JobKind {
	row := s.step.JobKind()
	row.Workers = 1
	return row
}

// A test starts the process that it kills with these environment variables. They have the address of the database, the
// kind of the jobs, and the address of the server that the jobs call.
const (
	victimEnv            = "OCTAVO_TEST_JOBS_VICTIM"
	victimKindEnv        = "OCTAVO_TEST_JOBS_VICTIM_KIND"
	victimCounterpartEnv = "OCTAVO_TEST_JOBS_VICTIM_COUNTERPART"
)

// TestMain runs jobs if this is the process that a test kills. Without victimKindEnv, it runs steps that never end.
func TestMain(m *testing.M) {
	if url := os.Getenv(victimEnv); url != "" {
		victim(url)
	}
	os.Exit(m.Run())
}

func victim(url string) {
	ctx := context.Background()
	st, err := store.New(postgres.Config{URL: url, MaxConns: 4}, store.Config{})
	if err != nil {
		panic(err)
	}
	if err := st.Start(ctx); err != nil {
		panic(err)
	}
	pool, err := st.NewPool(ctx, PoolConns)
	if err != nil {
		panic(err)
	}
	cfg := Config{
		Deps: Deps{Store: st}, Pool: pool, Log: slog.New(slog.DiscardHandler), Poll: 20 * time.Millisecond,
		Kinds: []Kind{kind(func(context.Context, Deps, singleStep) error { select {} })},
	}
	if name := os.Getenv(victimKindEnv); name != "" {
		cfg.Kinds = kindsNamed(name)
		if cfg.Deps, err = depsOnLoopback(st, os.Getenv(victimCounterpartEnv)); err != nil {
			panic(err)
		}
	}
	r, err := New(cfg)
	if err != nil {
		panic(err)
	}
	if err := r.Start(ctx); err != nil {
		panic(err)
	}
	select {}
}

// victim starts a process that runs jobs until it is killed.
func (b *bench) victim(environment ...string) (kill func()) {
	b.t.Helper()
	process := exec.CommandContext(b.t.Context(), os.Args[0])
	process.Env = append(append(os.Environ(), victimEnv+"="+b.url), environment...)
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		b.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		if err := process.Process.Kill(); err != nil {
			b.t.Error(err)
		}
		_ = process.Wait() // It was killed.
	})
	b.t.Cleanup(kill)
	return kill
}

// TestKilledProcess uses SIGKILL to kill a process that runs a job. Another process runs the job again, and then the
// later jobs. Jobs of a node that is still alive are not taken from it.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kill := b.victim()
	b.ask(step{Space: "a", N: 1}, step{Space: "a", N: 2})
	b.until(schema.JobRunning, schema.JobWaiting)
	var mu sync.Mutex
	var ran []int
	living, long := make(chan struct{}), make(chan struct{}, 1)
	b.run(func(_ context.Context, s step) error {
		if s.N == 3 {
			long <- struct{}{}
			<-living
		}
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, s.N)
		return nil
	})
	b.ask(step{Space: "b", N: 3})
	receive(t, long)
	b.until(schema.JobRunning, schema.JobWaiting, schema.JobRunning)
	kill()
	jobs := b.until(schema.JobDone, schema.JobDone, schema.JobRunning)
	if jobs[0].Attempt != 2 || jobs[2].Attempt != 1 {
		t.Errorf("%+v", jobs)
	}
	close(living)
	b.until(schema.JobDone, schema.JobDone, schema.JobDone)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(ran, []int{1, 2, 3}) {
		t.Errorf("%v", ran)
	}
}

// TestTotals checks the metrics of open jobs, of failed jobs and of the oldest waiting job.
func TestTotals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, space := range []string{"a", "b", "c"} {
		err := pgx.BeginFunc(t.Context(), b.conn, func(tx pgx.Tx) error {
			return postgres.Enqueue(t.Context(), db.New(tx), schema.IndexSpace{Organization: "o", Space: space})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.conn.Exec(t.Context(), "update river_job set state = 'discarded', finalized_at = now() where metadata ->> 'space' = 'a'")
	if err == nil {
		_, err = b.conn.Exec(t.Context(), "update river_job set scheduled_at = now() - interval '1 hour' where metadata ->> 'space' = 'b'")
	}
	if err != nil {
		t.Fatal(err)
	}
	metrics := NewMetrics(prometheus.NewRegistry())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { metrics.Watch(ctx, b.st, slog.New(slog.DiscardHandler)); close(done) }()
	kind := schema.IndexSpace{}.Kind()
	deadline := time.Now().Add(eventually.Patience)
	for testutil.ToFloat64(metrics.failed.WithLabelValues(kind)) == 0 && time.Now().Before(deadline) {
	}
	cancel()
	receive(t, done)
	open, failed, oldest := testutil.ToFloat64(metrics.open.WithLabelValues(kind)), testutil.ToFloat64(metrics.failed.WithLabelValues(kind)), testutil.ToFloat64(metrics.oldestWaiting.WithLabelValues(kind))
	if open != 2 || failed != 1 || oldest < 3590 || oldest > 3700 {
		t.Errorf("open %v, failed %v, oldest %v", open, failed, oldest)
	}
}

// TestWordsAlone: a runner without a model logs a warning and sets a metric to 1.
func TestWordsAlone(t *testing.T) {
	t.Parallel()
	model := func() (Encoder, error) { return nil, nil }
	for alone, encoder := range map[float64]func() (Encoder, error){1: nil, 0: model} {
		b, metrics := newBench(t), NewMetrics(prometheus.NewRegistry())
		work := func(context.Context, step) error { return nil }
		b.run(work, func(c *Config) { c.Metrics, c.Deps.Encoder = metrics, encoder })
		got, logged := testutil.ToFloat64(metrics.wordsAlone), strings.Contains(b.log.String(), "words alone")
		if got != alone || logged != (alone == 1) {
			t.Errorf("the metric is %v, want %v; the log: %s", got, alone, b.log.String())
		}
	}
}

// TestKilledGitOperation: the process of an import dies during the job's last attempt. The import is then marked as
// failed, by the runner that rescues the job or by the sweep. The sweep does this if river has discarded or deleted the
// job. If the job can still be retried, the import stays running.
func TestKilledGitOperation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	user, _ := storetest.User(t, b.st, "user")
	tenant := storetest.NewTenant(t, b.st, "tenant")
	spaces := storetest.Spaces(t, b.st, tenant.Organization.ID, nil, 4)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := b.conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	state := func(space string) store.GitOperation {
		t.Helper()
		page, err := b.st.ListGitOperations(t.Context(), space, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows[0]
	}
	for _, space := range spaces {
		o, err := b.st.QueueGitOperation(t.Context(), store.NewGitOperation{
			OrganizationID: tenant.Organization.ID, SpaceID: space, Kind: schema.GitImport, URL: "https://git.example/a.git", Ref: "refs/heads/main", Timestamp: time.Now(), UserID: user.ID,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, run, err := b.st.StartGitOperation(t.Context(), o.ID); err != nil || !run {
			t.Fatal(run, err)
		}
	}
	const set = "update river_job set state = $2::text::river_job_state, attempt = max_attempts - $3::int, attempted_by = '{gone}', finalized_at = case when $2::text = 'discarded' then now() end, errors = case when $2::text = 'discarded' then array['{\"error\":\"given up\"}'::jsonb] end where metadata ->> 'space' = $1"
	exec(set, spaces[0], "running", 0)
	exec(set, spaces[1], "discarded", 0)
	exec(set, spaces[2], "running", 1)
	exec("delete from river_job where metadata ->> 'space' = $1", spaces[3])
	b.run(func(context.Context, step) error { return nil })
	deadline := time.Now().Add(eventually.Patience)
	for state(spaces[0]).State == schema.GitRunning && time.Now().Before(deadline) {
	}
	if err := b.st.FailLostGitOperations(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"failed: the process that ran it ended", "failed: given up", "running: ", "failed: the process that ran it ended"} {
		o := state(spaces[i])
		if got := o.State + ": " + o.Reason; got != want || (o.FinishedAt == nil) != (i == 2) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// TestStatementsOfJobsMayTakeLong checks the time limit of the SQL statements that jobs run.
func TestStatementsOfJobsMayTakeLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	limits := make(chan time.Duration, 1)
	defer b.run(func(ctx context.Context, _ step) error {
		limits <- postgres.LimitOf(ctx)
		return nil
	})()
	b.ask(step{Space: "s"})
	select {
	case limit := <-limits:
		if limit != maxStatement {
			t.Errorf("a statement may take %s, want %s", limit, maxStatement)
		}
	case <-time.After(eventually.Patience):
		t.Fatal("the job does not run")
	}
}
