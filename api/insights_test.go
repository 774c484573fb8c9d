package api

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// balancesOf is what the harness answers with: a balance that names its site.
type balancesOf struct{}

func (balancesOf) Balance(_ context.Context, site string) schema.EventBalance {
	return schema.EventBalance{
		Object: "event-balance", Site: site, Since: time.Unix(1_750_000_000, 0).UTC(), Received: 9, Accepted: 4, Repeated: 2,
		Refused: map[string]uint64{"unknown_type": 3}, UnreadRequests: map[string]uint64{"overloaded": 2}, Stored: 5, DeadLettered: 1, InFlight: -2,
		Scope: "node", Roles: []string{"api"},
	}
}

// TestEventBalance reads a site's balance, which is for admins of its organization only.
func TestEventBalance(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events/balance"
	got := ask[schema.EventBalance](h, schema.RoleAdmin, "GET", path, nil, http.StatusOK)
	if got.Site != h.ours.Site.ID || got.Received != 9 || got.Refused["unknown_type"] != 3 || got.InFlight != -2 || got.UnreadRequests["overloaded"] != 2 {
		t.Errorf("%+v", got)
	}
	h.wantError(h.do("GET", path, h.ours.Tokens[schema.RoleEdit], nil), http.StatusForbidden)
}
