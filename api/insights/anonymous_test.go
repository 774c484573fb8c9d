package insights_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// sitePath returns the path of a site.
func sitePath(organization, site string) string { return "/v1/orgs/" + organization + "/sites/" + site }

// TestAnonymousEvents: while anonymousEvents of a published site is true, the site accepts events without a token. It
// accepts no other requests without a token.
func TestAnonymousEvents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Nanosecond })
	admin, site := h.Ours.Tokens[schema.RoleAdmin], sitePath(h.Ours.Organization.ID, h.Ours.Site.ID)
	turn := func(to bool, shown any) {
		t.Helper()
		answer := h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"anonymousEvents": to})
		if read := h.Want(http.StatusOK, "GET", site, admin, nil); answer["anonymousEvents"] != shown || read["anonymousEvents"] != shown {
			t.Fatalf("turned %v: %v, then %v", to, answer["anonymousEvents"], read["anonymousEvents"])
		}
	}
	post := func(path, token string) apitest.Answer {
		return h.Do("POST", path+"/insights/events", token, `{"events":[]}`)
	}
	if read := h.Want(http.StatusOK, "GET", site, admin, nil); read["anonymousEvents"] != nil {
		t.Errorf("a new site has %v", read["anonymousEvents"])
	}
	off := post(site, "")
	h.WantError(off, http.StatusUnauthorized)

	turn(true, true)
	// The site is not published, so it accepts no events without a token.
	h.WantError(post(site, ""), http.StatusUnauthorized)
	h.Want(http.StatusOK, "POST", site+"/publish", admin, nil)
	if a := post(site, ""); a.Status != http.StatusNoContent || len(a.Body) != 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if from := h.Intake.From; len(from) != 1 || from[0].AnyPast || from[0].KnownTypes || from[0].MaxEvents != 500 || h.Intake.Sites[0].SiteID != h.Ours.Site.ID {
		t.Errorf("%+v, %+v", h.Intake.Sites, from)
	}
	if a := h.Do("POST", site+"/insights/events", "", `{"events":[]}`, "Prefer", "handling=lenient"); a.Status != http.StatusNoContent || !h.Intake.From[1].KnownTypes {
		t.Errorf("lenient: %d %s", a.Status, a.Body)
	}
	// A request with a wrong token is not treated like a request without a token.
	h.WantError(post(site, schema.NewToken()), http.StatusUnauthorized)
	h.WantError(h.Do("POST", site+"/insights/events", "", `{"events":[]}`, "Authorization", "Basic eDp4"), http.StatusUnauthorized)
	if a := post(site, h.Ours.SiteKey); a.Status != http.StatusNoContent || h.Intake.From[2].MaxEvents != 0 {
		t.Errorf("with its key: %d %s", a.Status, a.Body)
	}
	h.WantError(h.Do("POST", site+"/insights/events", "", nil), http.StatusBadRequest)
	h.WantError(h.Do("POST", site+"/insights/events/aggregate", "", `{"range":"lastYear"}`), http.StatusUnauthorized)
	h.WantError(h.Do("GET", site, "", nil), http.StatusUnauthorized)
	// Answers do not reveal whether sites exist that accept no such events.
	taken := len(h.Intake.Sites)
	for name, path := range map[string]string{
		"one that is off": sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID), "none": sitePath("nothing", "nothing"),
		"in another organization": sitePath(h.Theirs.Organization.ID, h.Ours.Site.ID), "no ids": sitePath("!", "!"),
	} {
		a := post(path, "")
		if h.WantError(a, http.StatusUnauthorized); string(a.Body) != string(off.Body) {
			t.Errorf("%s: %s, want %s", name, a.Body, off.Body)
		}
	}
	for _, body := range []string{`{"anonymousEvents":"yes"}`, `{"anonymousEvents":null}`} {
		h.WantError(h.Do("PATCH", site, admin, body), http.StatusBadRequest)
	}
	h.WantError(h.Do("PATCH", site, h.Ours.Tokens[schema.RoleRead], `{"anonymousEvents":false}`), http.StatusForbidden)
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"title": "Another title"})
	if a := post(site, ""); a.Status != http.StatusNoContent {
		t.Errorf("renamed: %d %s", a.Status, a.Body)
	}
	taken++

	h.Want(http.StatusOK, "POST", site+"/unpublish", admin, nil)
	h.WantError(post(site, ""), http.StatusUnauthorized)
	h.Want(http.StatusOK, "POST", site+"/publish", admin, nil)
	turn(false, nil)
	h.WantError(post(site, ""), http.StatusUnauthorized)
	if got := len(h.Intake.Sites); got != taken {
		t.Errorf("the intake has had %d requests, want %d", got, taken)
	}
}

// TestAnonymousEventsAreLimitedByAddress: the rate limit applies to the visitor's address if the front end is a trusted
// proxy.
func TestAnonymousEventsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) {
		c.PublicRateLimit, c.WrongTokenRateLimit, c.TrustedProxies = 1, 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	h.Exec("update sites set anonymous_events = true, published = true where id = $1", h.Ours.Site.ID)
	until := func(path, address string, want int) {
		t.Helper()
		for range 100 {
			a := h.Do("POST", path+"/insights/events", "", `{"events":[]}`, "X-Forwarded-For", address)
			if a.Status == http.StatusTooManyRequests {
				if h.WantError(a, a.Status); a.Header.Get("Retry-After") == "" {
					t.Error("429 without Retry-After")
				}
				return
			}
			if a.Status != want {
				t.Fatalf("%d %s, want %d", a.Status, a.Body, want)
			}
		}
		t.Error("no limit in 100 requests")
	}
	open, closed := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID), sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID)
	until(open, "198.51.100.7", http.StatusNoContent)
	until(open, "198.51.100.8", http.StatusNoContent)
	until(closed, "198.51.100.9", http.StatusUnauthorized)
}

// TestAnonymousBodiesWaitForTheDoor: the server answers 100 Continue to a request without a token only if the site
// accepts events without a token.
func TestAnonymousBodiesWaitForTheDoor(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	expect := h.Post("", "Content-Length: 13", "Expect: 100-continue")
	w := h.Wire()
	w.Send(expect)
	h.WantError(w.Answer(), http.StatusUnauthorized)
	w.WantClosed()
	h.Exec("update sites set anonymous_events = true, published = true where id = $1", h.Ours.Site.ID)
	h.Serve(nil)
	w = h.Wire()
	w.Send(expect)
	if a := w.Answer(); a.Status != http.StatusContinue {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	w.Send(`{"events":[]}`)
	if a := w.Answer(); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	w.Send(h.Post("", "Content-Length: 99999999") + "{")
	h.WantError(w.Answer(), http.StatusRequestEntityTooLarge)
}
