// Package jobstest runs background jobs in tests. Only tests may import it.
package jobstest

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/api/remote/tunnel"
	"github.com/octavo-docs/octavo/api/remote/webhooks"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Drain runs jobs with the real runner until none is left. If a job fails, the test ends with its reason. Drain does
// not run jobs for Git, because the repositories of examples do not exist. Tests with a repository use RunAll. Drain
// sends no mails, because there is no mail server (see RunMails). The renderer is Paper (see DrainWith). The translator
// translates into capitals.
func Drain(t testing.TB, st *store.Store) {
	t.Helper()
	DrainWith(t, st, Paper{})
}

// Paper is a renderer whose PDFs list the names of its input files.
type Paper struct{}

// Render writes the names of the files.
func (Paper) Render(_ context.Context, input func(send func(name string, content []byte) error) error, out io.Writer) error {
	if _, err := io.WriteString(out, "%PDF-1.7"); err != nil {
		return err
	}
	return input(func(name string, _ []byte) error {
		_, err := io.WriteString(out, "\n% "+name)
		return err
	})
}

// DrainWith is like Drain, with another renderer.
func DrainWith(t testing.TB, st *store.Store, renderer book.Renderer) {
	t.Helper()
	ended := make(chan schema.JobState, 1000)
	if open(t, st, git, mails) == 0 {
		return
	}
	defer start(t, st, func(cfg *jobs.Config) {
		cfg.Kinds = slices.DeleteFunc(jobs.Kinds(), func(k jobs.Kind) bool { return k.Name == git || k.Name == mails })
		cfg.Deps.Renderer = renderer
		cfg.Ended = func(state schema.JobState) { ended <- state }
	})()
	late := time.After(eventually.Patience)
	// Ended reports only the jobs of this runner. Another runner may run jobs at the same time, so open jobs are also
	// counted periodically.
	others := time.NewTicker(50 * time.Millisecond)
	defer others.Stop()
	for open(t, st, git, mails) > 0 {
		select {
		case state := <-ended:
			if state == schema.JobDone || state == schema.JobWaiting {
				// The job gave its worker to another job, and waits for its next turn.
				continue
			}
			page, err := st.Queue.ListAll(t.Context(), nil, nil, "", 10)
			t.Fatalf("a job is %s: %+v %v", state, page.Rows, err)
		case <-others.C:
		case <-late:
			page, err := st.Queue.ListAll(t.Context(), nil, nil, "", 10)
			t.Fatalf("jobs do not end: %+v %v", page.Rows, err)
		}
	}
}

// Broken is a renderer that always fails. Final says whether another attempt would also fail.
type Broken struct{ Final bool }

// Render returns an error.
func (b Broken) Render(context.Context, func(send func(name string, content []byte) error) error, io.Writer) error {
	return noInk{b.Final}
}

type noInk struct{ final bool }

// Final reports whether another attempt would also fail.
func (e noInk) Final() bool { return e.final }

func (noInk) Error() string { return "secret cause" }

// Public returns the text for users.
func (noInk) Public() string { return "there is no ink" }

// Fail runs jobs, with short pauses between attempts, until a job has failed and is not retried.
func Fail(t testing.TB, st *store.Store, renderer book.Renderer) {
	t.Helper()
	ended := make(chan schema.JobState, 1000)
	defer start(t, st, func(cfg *jobs.Config) {
		cfg.Deps.Renderer = renderer
		cfg.Pause = func(int) time.Duration { return time.Millisecond }
		cfg.Ended = func(state schema.JobState) { ended <- state }
	})()
	late := time.After(eventually.Patience)
	for {
		select {
		case state := <-ended:
			if state == schema.JobFailed {
				return
			}
		case <-late:
			t.Fatal("no job fails")
		}
	}
}

var git, mails = schema.SyncGit{}.Kind(), schema.SendInvites{}.Kind()

// open returns the number of open jobs, without the jobs of the kinds in `but`.
func open(t testing.TB, st *store.Store, but ...string) int64 {
	t.Helper()
	totals, err := st.Queue.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, kind := range totals {
		if !slices.Contains(but, kind.Kind) {
			n += kind.Open
		}
	}
	return n
}

// Git returns a Git client that may connect to servers of the test itself.
func Git(t testing.TB) *gitsync.Client {
	t.Helper()
	return gitsync.New(gitsync.Config{
		Guard: outboundtest.Guard(t, outboundtest.Loopback), Limits: gitsync.DefaultLimits, TempDir: t.TempDir(), CacheDir: cacheDir(t), CacheBytes: 1 << 30,
		Warn: func(err error) { t.Error(err) },
	})
}

// cacheDirs has, by test, the folder of the Git cache. All runs of a test share it.
var cacheDirs sync.Map

func cacheDir(t testing.TB) string {
	dir, known := cacheDirs.LoadOrStore(t, t.TempDir())
	if !known {
		t.Cleanup(func() { cacheDirs.Delete(t) })
	}
	text, _ := dir.(string)
	return text
}

// pools has the connection pools of runners that have stopped. The next runner of the same test and store uses them
// again, because a new connection is slower: it reads the catalog and plans each statement again.
var pools = struct {
	sync.Mutex
	idle map[poolKey][]*pgxpool.Pool
}{idle: map[poolKey][]*pgxpool.Pool{}}

type poolKey struct {
	t  testing.TB
	st *store.Store
}

// pool returns a connection pool that no other runner uses. giveBack makes it available to the next runner.
func pool(t testing.TB, st *store.Store) (of *pgxpool.Pool, giveBack func()) {
	t.Helper()
	key := poolKey{t, st}
	pools.Lock()
	defer pools.Unlock()
	if idle := pools.idle[key]; len(idle) > 0 {
		of, pools.idle[key] = idle[len(idle)-1], idle[:len(idle)-1]
	} else {
		var err error
		if of, err = st.NewPool(t.Context(), jobs.PoolConns); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			of.Close()
			pools.Lock()
			defer pools.Unlock()
			delete(pools.idle, key)
		})
	}
	return of, func() {
		pools.Lock()
		defer pools.Unlock()
		pools.idle[key] = append(pools.idle[key], of)
	}
}

// RunAll runs jobs until each is done or failed, and returns the failed jobs. If a job waits for its next attempt,
// RunAll retries it immediately.
func RunAll(t testing.TB, st *store.Store) []schema.Job {
	t.Helper()
	return RunAllWith(t, st, translationtest.Loudly{})
}

// RunAllWith is like RunAll, with another translator, which may be nil.
func RunAllWith(t testing.TB, st *store.Store, translator translation.Provider) []schema.Job {
	t.Helper()
	return runAll(t, st, func(cfg *jobs.Config) { cfg.Deps.Translator = translator })
}

// RunMails is like RunAll, and sends mails by `mailer`. The links in the mails begin with `base`.
func RunMails(t testing.TB, st *store.Store, mailer jobs.Mailer, base string) []schema.Job {
	t.Helper()
	urls, err := schema.NewURLs(base)
	if err != nil {
		t.Fatal(err)
	}
	return runAll(t, st, func(cfg *jobs.Config) { cfg.Deps.Mail, cfg.Deps.View = mailer, view.Presenter{URLs: urls} })
}

// RunRefined is like RunAll, with a language model for clusters of conversations.
func RunRefined(t testing.TB, st *store.Store, refiner jobs.Refiner) []schema.Job {
	t.Helper()
	return runAll(t, st, func(cfg *jobs.Config) { cfg.Deps.Refiner = refiner })
}

func runAll(t testing.TB, st *store.Store, option func(*jobs.Config)) []schema.Job {
	t.Helper()
	if open(t, st) > 0 {
		ended := make(chan schema.JobState, 1000)
		defer start(t, st, func(cfg *jobs.Config) {
			cfg.Pause, cfg.Ended = func(int) time.Duration { return time.Millisecond }, func(state schema.JobState) { ended <- state }
			option(cfg)
		})()
		late := time.After(eventually.Patience)
		for open(t, st) > 0 {
			select {
			case <-ended:
			case <-late:
				page, err := st.Queue.ListAll(t.Context(), nil, nil, "", 10)
				t.Fatalf("jobs do not end: %+v %v", page.Rows, err)
			}
		}
	}
	failed := string(schema.JobFailed)
	page, err := st.Queue.ListAll(t.Context(), &failed, nil, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	return page.Rows
}

// Webhooks returns a client that may send events to receivers of the test itself.
func Webhooks(t testing.TB, timeout time.Duration) *webhooks.Client {
	t.Helper()
	return webhooks.New(webhooks.Config{Guard: outboundtest.Guard(t, outboundtest.Loopback), Timeout: timeout})
}

// poll is the interval at which the runners of tests poll. Tests need no shorter interval, because River is notified of
// new jobs and of turns. A poll makes a query for each kind of job, so with a shorter interval most queries of tests
// would be polls.
const poll = 400 * time.Millisecond

// Start starts a runner. It is stopped by `stop`, or when the test ends.
func Start(t testing.TB, st *store.Store, option func(*jobs.Config)) (stop func()) {
	t.Helper()
	stop = sync.OnceFunc(start(t, st, option))
	t.Cleanup(stop)
	return stop
}

// start starts a runner. The caller must call `stop`.
func start(t testing.TB, st *store.Store, option func(*jobs.Config)) (stop func()) {
	t.Helper()
	of, giveBack := pool(t, st)
	urls, err := schema.NewURLs("https://docs.example.com/base")
	if err != nil {
		t.Fatal(err)
	}
	guard := outboundtest.Guard(t, outboundtest.Loopback)
	deps := jobs.Deps{
		Store: st, Git: Git(t), Translator: translationtest.Loudly{}, Tunnels: tunnel.New(guard), View: view.Presenter{URLs: urls},
		Specs: openapi.NewFetcher(guard, openapi.DefaultLimits),
	}
	cfg := jobs.Config{Deps: deps, Pool: of, Log: slog.New(slog.DiscardHandler), Poll: poll}
	option(&cfg)
	runner, err := jobs.New(cfg)
	if err == nil {
		err = runner.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
		defer cancel()
		if err := runner.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
		giveBack()
	}
}
