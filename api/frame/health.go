package frame

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// checkTime bounds one readiness check.
const checkTime = 3 * time.Second

// Check is a part of the service that must work before a load balancer sends requests to this node.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Condition is an error of a Check for which /readyz shows a certain word.
type Condition struct {
	Word string
	// Serves means that the node stays ready although the check fails.
	Serves bool
	Err    error
}

// Error returns the reason.
func (c *Condition) Error() string { return c.Err.Error() }

// Unwrap returns the reason.
func (c *Condition) Unwrap() error { return c.Err }

// readiness is the answer of /readyz. It shows which checks fail. Only the log shows why.
type readiness struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
}

// healthz answers 200 while the process can answer requests.
func healthz(ctx *fasthttp.RequestCtx) {
	jsonHeaders(ctx)
	ctx.SetBodyString(alive)
}

const alive = `{"alive":true}`

// readyz runs the checks in parallel. A server that stops is not ready, so that its load balancer uses other nodes. The
// query parameter `exclude` names checks that still run and are listed, but do not decide whether the node is ready. If
// a load balancer excludes the insights store, it still sends events while the store is down. The event log stores
// these events until the store is up.
func (s *Server) readyz(ctx *fasthttp.RequestCtx) {
	excluded := map[string]bool{}
	for _, name := range ctx.QueryArgs().PeekMulti("exclude") {
		excluded[string(name)] = true
	}
	answer := s.readiness(excluded)
	ctx.SetStatusCode(answer.status())
	// Encoding cannot fail, because the answer has only strings and booleans.
	_ = writeJSON(ctx, answer)
}

func (r readiness) status() int {
	if r.Ready {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func (s *Server) readiness(excluded map[string]bool) readiness {
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
			defer schema.CatchPanic(&errs[i])
			errs[i] = check.Run(bounded)
		})
	}
	wait.Wait()
	for i, check := range s.checks {
		answer.Checks[check.Name] = "ok"
		if errs[i] == nil {
			continue
		}
		condition, ok := errors.AsType[*Condition](errs[i])
		if !ok {
			condition = &Condition{Word: "failing"}
		}
		answer.Checks[check.Name] = condition.Word
		if !condition.Serves {
			answer.Ready = answer.Ready && excluded[check.Name]
			s.frame.log.Warn("not ready", "check", check.Name, "error", errs[i])
		}
	}
	return answer
}

// Health serves /healthz and /readyz, for operators who want them on a separate listener.
func (s *Server) Health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", string(contentJSON))
		_, _ = io.WriteString(w, alive) // The client may have disconnected.
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		excluded := map[string]bool{}
		for _, name := range r.URL.Query()["exclude"] {
			excluded[name] = true
		}
		answer := s.readiness(excluded)
		w.Header().Set("Content-Type", string(contentJSON))
		w.WriteHeader(answer.status())
		_ = json.MarshalWrite(w, answer)
	})
	return mux
}
