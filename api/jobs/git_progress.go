package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// gitProgress is the progress of a run. The run sets it, and its watcher stores it.
type gitProgress struct {
	mu     sync.Mutex
	now    schema.GitProgress
	stored schema.GitProgress
}

// at records how many items of a step are done.
func (p *gitProgress) at(step string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = schema.GitProgress{Step: step, Done: done, Total: total}
}

// pushing reports whether the repository may have the commit of the run already.
func (p *gitProgress) pushing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Step == schema.GitPushing
}

// news returns the progress that is not stored yet, or nil. The caller owns the result: the run and its watcher both
// call news.
func (p *gitProgress) news() *schema.GitProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == p.stored {
		return nil
	}
	p.stored = p.now
	return new(p.now)
}

// gitWatch is the interval at which a run stores its progress and checks whether it was cancelled.
const gitWatch = time.Second

// watched runs the operation until it ends or somebody cancels it.
func (g *gitRun) watched(ctx context.Context) error {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	ended := make(chan error, 1)
	go func() { ended <- g.run(running) }()
	tick := time.NewTicker(gitWatch)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if errors.Is(context.Cause(running), store.ErrGitCancelled) {
				return store.ErrGitCancelled
			}
			if err == nil {
				_ = g.look(ctx) // The run continues even if its progress cannot be stored.
			}
			return err
		case <-tick.C:
			if err := g.look(ctx); errors.Is(err, store.ErrGitCancelled) && !g.progress.pushing() {
				end(err)
			}
		}
	}
}

// look stores the new progress. It returns ErrGitCancelled if the operation was cancelled.
func (g *gitRun) look(ctx context.Context) error {
	return g.deps.Store.NoteGitProgress(ctx, g.operation.ID, g.progress.news())
}
