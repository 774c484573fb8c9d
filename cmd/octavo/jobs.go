package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/tunnel"
	"github.com/octavo-docs/octavo/api/remote/webhooks"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/cmd/engine/embedding"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// startJobs runs background jobs on nodes with the role jobs. Nodes with the role api enqueue jobs and create rows that
// expire, so they also run the sweep and count the jobs.
func (n *node) startJobs(ctx context.Context) error {
	if n.settings.has("jobs") || n.settings.has("api") {
		n.background("watch over jobs", func(ctx context.Context) { n.metrics.Jobs.Watch(ctx, n.store, n.log) })
		n.background("sweep", n.sweep().Run)
	}
	if !n.settings.has("jobs") {
		return nil
	}
	// The jobs' work has separate connections, so that jobs and requests do not wait for each other.
	database := n.settings.postgres(n.backends.postgresURL)
	database.MaxConns = jobs.WorkConns(n.sizes.kinds)
	work, err := openStore(ctx, database, n.settings.store())
	if err != nil {
		return err
	}
	n.onStop("store of jobs", func(context.Context) error { work.Stop(); return nil })
	pool, err := work.NewPool(ctx, jobs.PoolConns)
	if err != nil {
		return err
	}
	n.onStop("pool of jobs", func(context.Context) error { pool.Close(); return nil })
	policy, err := n.settings.outbound()
	if err != nil {
		return err
	}
	packs := packsDir(n.settings)
	if err := os.MkdirAll(packs, 0o700); err != nil {
		return err
	}
	if err := n.sweep().Packs(ctx); err != nil {
		return err
	}
	guard := outbound.New(outbound.Config{Policy: policy})
	git := gitsync.New(gitsync.Config{
		Guard: guard, Limits: n.sizes.git, TempDir: packs,
		CacheDir: gitCacheDir(n.settings), CacheBytes: int64(n.settings.GitCache),
		Warn: func(err error) { n.log.Warn("Cannot cache the objects of a Git repository.", "error", err) },
	})
	frontEnds, err := n.settings.frontEnds()
	if err != nil {
		return err
	}
	translator, err := n.settings.translator()
	if err != nil {
		return err
	}
	urls, err := schema.NewURLs(n.settings.publicURL())
	if err != nil {
		return fmt.Errorf("OCTAVO_PUBLIC_URL: %w", err)
	}
	deps := jobs.Deps{
		Store: work, Git: git, Renderer: n.settings.renderer(n.sizes), PDFMemory: n.sizes.pdf / 2,
		Translator: translator, Tunnels: tunnel.New(guard), View: view.Presenter{URLs: urls},
		Specs: openapi.NewFetcher(guard, openapi.DefaultLimits), SpecsInterval: n.settings.OpenAPIPoll,
		Webhooks: webhooks.New(webhooks.Config{Guard: guard, Metrics: n.metrics.Webhooks}),
	}
	if frontEnds != nil { // a nil *Client in an interface would not be nil
		deps.FrontEnds = frontEnds
	}
	if deps.Refiner, err = n.settings.refiner(); err != nil {
		return err
	}
	deps.Encoder = n.settings.encoder()
	mailer, err := n.settings.mailer()
	if err != nil {
		return err
	}
	if mailer != nil {
		deps.Mail = mailer
	}
	if n.jobs, err = jobs.New(jobs.Config{
		Deps: deps, Kinds: n.sizes.kinds, Pool: pool, Log: n.log, Metrics: n.metrics.Jobs,
		Grace: n.settings.StopTimeout / 3, Settle: frame.DefaultAuthTTL,
	}); err != nil {
		return err
	}
	if err := n.jobs.Start(ctx); err != nil {
		return err
	}
	n.onStop("jobs", n.jobs.Stop)
	return nil
}

// sweep returns the sweep of expired rows and files.
func (n *node) sweep() *jobs.Sweep {
	return jobs.NewSweep(jobs.SweepConfig{
		Store: n.store, Log: n.log, AuditRetention: n.settings.AuditRetention,
		PacksDir: packsDir(n.settings), GitCacheDir: gitCacheDir(n.settings), GitCacheBytes: int64(n.settings.GitCache),
	})
}

// packsDir returns the folder for the packs that jobs are reading.
func packsDir(s *Settings) string { return filepath.Join(s.DataDir, "git") }

// gitCacheDir returns the folder for the packs of imports and exports with a repoCacheID.
func gitCacheDir(s *Settings) string { return filepath.Join(s.DataDir, "git-cache") }

// renderer returns the renderer, which makes PDFs in separate processes. If the node cannot render PDFs, a PDF job
// fails with the reason.
func (s *Settings) renderer(z *sizes) *typst.Renderer {
	cfg := typst.Config{EnginesDir: s.EnginesDir, MemoryBytes: uint64(z.pdf)}
	if z.pdf == 0 {
		cfg.Refusal = fmt.Sprintf("the node that ran the job has too little memory for PDFs: a PDF takes %s of %s, "+
			"which is more than the node's other parts leave (OCTAVO_MEMORY_BYTES, OCTAVO_PDF_MEMORY_BYTES)",
			schema.ByteSize(leastPDF), schema.ByteSize(z.limit.Bytes))
	}
	return typst.New(cfg)
}

// encoder returns a function that opens the model that compares conversations; nil if the model is not installed.
func (s *Settings) encoder() func() (jobs.Encoder, error) {
	found, err := packages.Find(packages.Config{Dir: s.EnginesDir})
	if err != nil {
		return nil
	}
	path, err := found.Encoder()
	if err != nil {
		return nil
	}
	shared := embedding.NewShared(path)
	return func() (jobs.Encoder, error) { return shared.Open() }
}

// JobsCmd groups the operator's commands for background jobs.
type JobsCmd struct {
	List  JobsListCmd  `cmd:"" help:"List the background jobs of all organizations, the newest first."`
	Retry JobsRetryCmd `cmd:"" help:"Let failed jobs run again, or jobs that wait for their next attempt run now."`
}

// JobsListCmd is `octavo jobs list`.
type JobsListCmd struct {
	Settings `embed:""`
	State    string `help:"Only jobs in this state: waiting, running, retrying, failed or done." enum:",waiting,running,retrying,failed,done" default:""`
	Kind     string `help:"Only jobs of this kind."`
	listFlags
}

// Run lists the jobs.
func (c *JobsListCmd) Run() error {
	return withStore(&c.Settings, "jobs list", func(ctx context.Context, st *store.Store) error {
		return c.print(ctx, st, os.Stdout)
	})
}

func (c *JobsListCmd) print(ctx context.Context, st *store.Store, out io.Writer) error {
	const header = "ID\tKIND\tSTATE\tATTEMPT\tORGANIZATION\tSPACE\tCREATED\tNEXT ATTEMPT\tREASON"
	return c.list(out, header, func(r *rows) error {
		return c.each(ctx, st, func(job schema.Job) error {
			next := "-"
			if job.NextAttemptAt != nil {
				next = job.NextAttemptAt.Format(time.DateTime)
			}
			return r.add(job, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%.120q", job.ID, job.Kind, job.State, job.Attempt,
				job.Organization, job.Space, job.CreatedAt.Format(time.DateTime), next, job.Reason)
		})
	})
}

// jobsPage is the number of jobs that a command reads from Postgres at once.
const jobsPage = 500

// each calls `fn` with each selected job, newest first.
func (c *JobsListCmd) each(ctx context.Context, st *store.Store, fn func(schema.Job) error) error {
	asked := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	for after := ""; ; {
		page, err := st.Queue.ListAll(ctx, asked(c.State), asked(c.Kind), after, jobsPage)
		if err != nil {
			return err
		}
		for _, job := range page.Rows {
			if err := fn(job); err != nil {
				return err
			}
			after = job.ID
		}
		if !page.More {
			return nil
		}
	}
}

// JobsRetryCmd is `octavo jobs retry`.
type JobsRetryCmd struct {
	Settings `embed:""`
	IDs      []string `arg:"" name:"id" optional:"" help:"Ids of jobs, as printed by list."`
	All      bool     `help:"Retry every failed job."`
}

// Run retries jobs.
func (c *JobsRetryCmd) Run() error {
	if c.All == (len(c.IDs) > 0) {
		return errors.New("name the ids of jobs, or use --all")
	}
	return withStore(&c.Settings, "jobs retry", c.retry)
}

func (c *JobsRetryCmd) retry(ctx context.Context, st *store.Store) error {
	for _, id := range c.IDs {
		job, err := st.Queue.Retry(ctx, "", id)
		if err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		fmt.Printf("%s is %s\n", job.ID, job.State)
	}
	if !c.All {
		return nil
	}
	retried := 0
	for after := ""; ; {
		ids, err := st.Queue.Failed(ctx, after, jobsPage)
		if err != nil {
			return err
		}
		for _, id := range ids {
			// Another operator may have retried the job, or the sweep may have deleted it.
			switch _, err := st.Queue.Retry(ctx, "", id); {
			case err == nil:
				retried++
			case !schema.IsCode(err, schema.CodeConflict) && !schema.IsCode(err, schema.CodeNotFound):
				return fmt.Errorf("job %s: %w", id, err)
			}
			after = id
		}
		if len(ids) == 0 {
			fmt.Printf("%d jobs run again\n", retried)
			return nil
		}
	}
}
