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

// Drain runs jobs until none is left, with the runner of the product. A job that fails ends the test with its reason.
// Jobs for Git are left out: the repositories of examples do not exist, and tests with a repository use RunAll. Mails
// stay in the queue as well, because there is no mail server: see RunMails. A fake renderer makes the PDFs: see
// DrainWith. The translator of the tests translates into capitals.
func Drain(t testing.TB, st *store.Store) {
	t.Helper()
	DrainWith(t, st, Paper{})
}

// Paper is a renderer whose PDFs list the names of its input files.
type Paper struct{}

// Render writes the names.
func (Paper) Render(_ context.Context, input func(send func(name string, content []byte) error) error, out io.Writer) error {
	if _, err := io.WriteString(out, "%PDF-1.7"); err != nil {
		return err
	}
	return input(func(name string, _ []byte) error {
		_, err := io.WriteString(out, "\n% "+name)
		return err
	})
}

// DrainWith is Drain with a renderer.
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
	// The runner is notified only of its own jobs. Another runner may run concurrently.
	others := time.NewTicker(50 * time.Millisecond)
	defer others.Stop()
	for open(t, st, git, mails) > 0 {
		select {
		case state := <-ended:
			if state == schema.JobDone || state == schema.JobWaiting {
				continue // A job that gave way to other jobs waits for its next turn.
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

// Broken is a renderer that fails; if it is Final, its failures are final.
type Broken struct{ Final bool }

// Render fails.
func (b Broken) Render(context.Context, func(send func(name string, content []byte) error) error, io.Writer) error {
	return noInk{b.Final}
}

type noInk struct{ final bool }

// Final reports whether another attempt would also fail.
func (e noInk) Final() bool { return e.final }

func (noInk) Error() string { return "secret cause" }

// Public returns the text for users.
func (noInk) Public() string { return "there is no ink" }

// Fail runs jobs without pauses, until a job has failed for good.
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

// open counts the open jobs, except jobs of some kinds.
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

// Git is a Git client that may reach servers of the test itself.
func Git(t testing.TB) *gitsync.Client {
	t.Helper()
	return gitsync.New(gitsync.Config{
		Guard: outboundtest.Guard(t, outboundtest.Loopback), Limits: gitsync.DefaultLimits, TempDir: t.TempDir(), CacheDir: cacheDir(t), CacheBytes: 1 << 30,
		Warn: func(err error) { t.Error(err) },
	})
}

// cacheDirs are the folders of Git caches by their tests: all runs of a test share one.
var cacheDirs sync.Map

func cacheDir(t testing.TB) string {
	dir, known := cacheDirs.LoadOrStore(t, t.TempDir())
	if !known {
		t.Cleanup(func() { cacheDirs.Delete(t) })
	}
	text, _ := dir.(string)
	return text
}

// pools are the connections of runners that have stopped, for the next runner of the test on the same store. A new
// connection reads the catalog and plans each statement again.
var pools = struct {
	sync.Mutex
	idle map[poolKey][]*pgxpool.Pool
}{idle: map[poolKey][]*pgxpool.Pool{}}

type poolKey struct {
	t  testing.TB
	st *store.Store
}

// pool returns connections that no other runner has. giveBack returns them to the pool.
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

// RunAllWith is RunAll with a translator, which may be nil.
func RunAllWith(t testing.TB, st *store.Store, translator translation.Provider) []schema.Job {
	t.Helper()
	return runAll(t, st, func(cfg *jobs.Config) { cfg.Deps.Translator = translator })
}

// RunMails is RunAll with a server for mails. The links in the mails begin with base.
func RunMails(t testing.TB, st *store.Store, mailer jobs.Mailer, base string) []schema.Job {
	t.Helper()
	urls, err := schema.NewURLs(base)
	if err != nil {
		t.Fatal(err)
	}
	return runAll(t, st, func(cfg *jobs.Config) { cfg.Deps.Mail, cfg.Deps.View = mailer, view.Presenter{URLs: urls} })
}

// RunRefined is RunAll with a language model for clusters of conversations.
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

// Webhooks delivers events to receivers of the test itself.
func Webhooks(t testing.TB, timeout time.Duration) *webhooks.Client {
	t.Helper()
	return webhooks.New(webhooks.Config{Guard: outboundtest.Guard(t, outboundtest.Loopback), Timeout: timeout})
}

// poll is short enough for tests. River is notified of new jobs and of turns, and need not poll. A runner queries the
// jobs of each kind at every poll. With a shorter poll, most statements of tests would be polls.
const poll = 400 * time.Millisecond

// Start starts a runner that polls quickly, and stops it when the test ends, or earlier.
func Start(t testing.TB, st *store.Store, option func(*jobs.Config)) (stop func()) {
	t.Helper()
	stop = sync.OnceFunc(start(t, st, option))
	t.Cleanup(stop)
	return stop
}

// start starts a runner that polls quickly. The caller stops it.
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
