package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestEveryOperationIsRateLimited exhausts the rate limit of a new token on every operation of the API.
func TestEveryOperationIsRateLimited(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(cfg *frame.Config, _ *api.Deps) { cfg.RateLimit, cfg.EventRateLimit = 1, 1 })
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		token := storetest.Token(t, h.Store, store.NewToken{User: h.Ours.Users[schema.RoleAdmin].ID})
		// The objects need not exist, because the server applies the limit before it looks up objects.
		path, body := h.Example(op, apitest.Ghost())
		var last apitest.Answer
		for range 100 {
			if last = h.Do(op.Method, path, token, body); last.Status == http.StatusTooManyRequests {
				break
			}
			if last.Header.Get("X-RateLimit-Limit") != "2" {
				t.Fatalf("%s: X-RateLimit-Limit %q", op.ID, last.Header.Get("X-RateLimit-Limit"))
			}
		}
		h.WantError(last, http.StatusTooManyRequests)
		reset, err := strconv.ParseInt(last.Header.Get("X-RateLimit-Reset"), 10, 64)
		if left := last.Header.Get("X-RateLimit-Remaining"); left != "0" || err != nil || reset < time.Now().Unix()-5 {
			t.Errorf("%s: remaining %q, reset %d %v", op.ID, left, reset, err)
		}
		if wait := last.Header.Get("Retry-After"); wait == "" || wait == "0" {
			t.Errorf("%s: Retry-After %q", op.ID, wait)
		}
	})
}
