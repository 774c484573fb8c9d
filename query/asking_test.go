package query

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// asking runs several concurrent queries about testSite. Each query must get an answer if its caller stays connected.
type asking struct {
	t       *testing.T
	service *Service
	wait    sync.WaitGroup
}

func (a *asking) ask(ctx context.Context, who Caller, body string) {
	a.wait.Go(func() {
		if _, _, err := a.service.Aggregate(ctx, who, testSite, []byte(body), testNow); err != nil && ctx.Err() == nil {
			a.t.Errorf("%+v: %v", who, err)
		}
	})
}

// waiting waits until n queries with the given number of rows wait for their turn.
func (a *asking) waiting(n, rows float64) {
	a.t.Helper()
	eventually.True(a.t, fmt.Sprint(n, " queries to wait"), func() bool {
		return testutil.ToFloat64(a.service.metrics.waiting) == n && testutil.ToFloat64(a.service.metrics.waitingRows) == rows
	})
}

// answered waits for all answers, and checks that no query runs or waits any more.
func (a *asking) answered() {
	a.t.Helper()
	a.wait.Wait()
	if s := a.service; s.results.Callers() != 0 || len(s.admission.parties) != 0 {
		a.t.Errorf("left: %d callers, %v", s.results.Callers(), s.admission.parties)
	}
}

// compile compiles an aggregate request of a caller who can read the whole site.
func compile(site Site, body []byte, now time.Time) (plan, error) {
	return compilePlan(reach{site: site}, body, now)
}
