package api

import (
	"context"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// checkTime bounds one check of readiness.
const checkTime = 3 * time.Second

// Check is a part of the service that must work before it is sent requests.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// readiness is the answer of /readyz. It says which part is missing and not why: the reason is in the log.
type readiness struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
}

// healthz answers as long as the process can answer at all.
func healthz(ctx *fasthttp.RequestCtx) {
	ctx.SetContentTypeBytes(contentJSON)
	ctx.SetBodyString(`{"alive":true}`)
}

// readyz runs the checks side by side. A server that is stopping is not ready, so that its load balancer moves on. Checks that
// the query excludes, each by an `exclude` of its name, are run and shown, and not counted: a load balancer that excludes the
// insights store goes on sending events while that is away, which the log keeps.
func (s *Server) readyz(ctx *fasthttp.RequestCtx) {
	answer := readiness{Ready: !s.stopping.Load(), Checks: map[string]string{}}
	if !answer.Ready {
		answer.Checks["server"] = "stopping"
	}
	errs := make([]error, len(s.checks))
	var wait sync.WaitGroup
	for i, check := range s.checks {
		wait.Go(func() {
			bounded, cancel := context.WithTimeout(s.frame.base, checkTime)
			defer cancel()
			errs[i] = check.Run(bounded)
		})
	}
	wait.Wait()
	excluded := map[string]bool{}
	for _, name := range ctx.QueryArgs().PeekMulti("exclude") {
		excluded[string(name)] = true
	}
	for i, check := range s.checks {
		answer.Checks[check.Name] = "ok"
		if errs[i] != nil {
			answer.Ready = answer.Ready && excluded[check.Name]
			answer.Checks[check.Name] = "failing"
			s.frame.log.Warn("not ready", "check", check.Name, "error", errs[i])
		}
	}
	if !answer.Ready {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
	}
	// Strings and booleans always encode.
	_ = writeJSON(ctx, answer)
}
