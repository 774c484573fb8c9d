package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// gitProgress is the progress of a run. The run sets it, and gitRun.watched stores it every second.
type gitProgress struct {
	mu     sync.Mutex
	now    schema.GitProgress
	stored schema.GitProgress
}

// at records the step of the run, and how many items of the step are done.
func (p *gitProgress) at(step string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = schema.GitProgress{Step: step, Done: done, Total: total}
}

// pushing reports whether the run has begun to push. The repository may then already have the commit.
func (p *gitProgress) pushing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Step == schema.GitPushing
}

// news returns the progress if it has changed since the last call of `news`, and otherwise nil. The result is a copy,
// because the run and gitRun.watched call `news` concurrently.
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

// watched runs the operation. Every second, it stores the progress. If somebody has cancelled the operation, it ends
// the run.
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
				_ = g.look(ctx) // An error does not matter: the result does not depend on the progress.
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
