package insights

import (
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

// TestChecksWithoutRoomAreFree: if too many checks run on the node, further checks are refused. They are not counted
// against the site's limit.
func TestChecksWithoutRoomAreFree(t *testing.T) {
	t.Parallel()
	h := &installations{room: semaphore.NewWeighted(0)}
	c := &access.Caller{Now: time.Now(), EventSite: schema.EventSite{SiteID: "site_1"}}
	for range 2 * checkBurst {
		if _, err := h.check(t.Context(), c, &installationRequest{}); !schema.IsCode(err, schema.CodeTooManyRequests) {
			t.Fatal(err)
		}
	}
	for i := range checkBurst {
		if err := h.rates.take("site_1", c.Now); err != nil {
			t.Errorf("check %d: %v", i+1, err)
		}
	}
}
