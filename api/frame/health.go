package frame

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
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
	jsonHeaders(ctx)
	ctx.SetBodyString(alive)
}

const alive = `{"alive":true}`

// readyz runs the checks side by side. A server that is stopping is not ready, so that its load balancer moves on. Checks that
// the query excludes, each by an `exclude` of its name, are run and shown, and not counted: a load balancer that excludes the
// insights store goes on sending events while that is away, which the log keeps.
func (s *Server) readyz(ctx *fasthttp.RequestCtx) {
	excluded := map[string]bool{}
	for _, name := range ctx.QueryArgs().PeekMulti("exclude") {
		excluded[string(name)] = true
	}
	answer := s.readiness(excluded)
	ctx.SetStatusCode(answer.status())
	// Strings and booleans always encode.
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
			errs[i] = check.Run(bounded)
		})
	}
	wait.Wait()
	for i, check := range s.checks {
		answer.Checks[check.Name] = "ok"
		if errs[i] != nil {
			answer.Ready = answer.Ready && excluded[check.Name]
			answer.Checks[check.Name] = "failing"
			s.frame.log.Warn("not ready", "check", check.Name, "error", errs[i])
		}
	}
	return answer
}

// Health answers /healthz and /readyz on another listener than the server's own, for operators who keep that one apart.
func (s *Server) Health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", string(contentJSON))
		_, _ = io.WriteString(w, alive) // The client may have gone.
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
