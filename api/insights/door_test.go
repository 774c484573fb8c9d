package insights_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/gif"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

const batch = `{"id":"a","events":[{"type":"page_view","url":"https://docs.example.com/"}]}`

// opened returns a harness whose server trusts local proxies, and a key for docs.example.com and *.example.org. `door`
// is the path at which the key posts events.
func opened(t *testing.T, options ...func(*frame.Config, *api.Deps)) (h *apitest.Harness, id, door string) {
	t.Helper()
	trusted := func(c *frame.Config, _ *api.Deps) {
		c.AuthTTL, c.TrustedProxies = time.Nanosecond, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	h = apitest.New(t)
	h.Serve(nil, trusted)
	for _, option := range options {
		h.Serve(nil, trusted, option)
	}
	id, text := h.PublishableKey(h.Ours, "docs.example.com", "*.example.org")
	return h, id, "/e/" + text
}

// readable checks that a script of any origin can read the answer.
func readable(t *testing.T, a apitest.Answer) {
	t.Helper()
	if got := a.Header.Values("Access-Control-Allow-Origin"); !slices.Equal(got, []string{"*"}) {
		t.Errorf("%d with Access-Control-Allow-Origin %q", a.Status, got)
	}
}

// TestDoorTakesBatches: the intake gets a browser's batch, and what the request's headers say about its sender.
func TestDoorTakesBatches(t *testing.T) {
	t.Parallel()
	h, id, door := opened(t)
	for i, contentType := range []string{"text/plain;charset=UTF-8", "", "application/json",
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ";;;"} {
		a := h.Do("POST", door+"?late=1500", "", batch, "Content-Type", contentType, "X-Forwarded-For", "198.51.100.7",
			"X-Location-Country", "DE", "Origin", "https://docs.example.com", "User-Agent", "Mozilla/5.0 test")
		if a.Status != http.StatusNoContent || len(a.Body) != 0 {
			t.Fatalf("%q: %d %s", contentType, a.Status, a.Body)
		}
		readable(t, a)
		from := h.Intake.Doors[i]
		if h.Intake.Bodies[i] != batch || h.Intake.Sites[i].SiteID != h.Ours.Site.ID ||
			h.Intake.Sites[i].OrganizationID != h.Ours.Organization.ID ||
			from.Key != id || from.Generation != 1 || from.Late != 1500*time.Millisecond || from.Pixel ||
			from.IP.String() != "198.51.100.7" || from.UserAgent != "Mozilla/5.0 test" || from.Place.Country != "DE" ||
			time.Since(from.Now) > time.Hour || !slices.Equal(from.Hosts, []string{"docs.example.com",
			"*.example.org"}) {
			t.Errorf("%q, %+v, %+v", h.Intake.Bodies[i], h.Intake.Sites[i], from)
		}
	}
	// The header Authorization is ignored: it may be meant for a proxy, or may have the token of a user.
	taken := len(h.Intake.Doors)
	for _, authorization := range []string{"Basic eDp4", "Bearer " + h.Theirs.Tokens[schema.RoleAdmin],
		"Bearer oct_nothing", "x"} {
		if a := h.Do("POST", door, "", batch, "Authorization", authorization); a.Status != http.StatusNoContent {
			t.Errorf("%s: %d %s", authorization, a.Status, a.Body)
		}
	}
	for name, encode := range apitest.Encoders {
		if a := h.Do("POST", door, "", encode(t, []byte(batch)), "Content-Encoding", name, "Content-Type",
			"text/plain"); a.Status != http.StatusNoContent {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	// Headers with invalid text are ignored.
	if a := h.Do("POST", door, "", batch, "User-Agent", "Mozilla \xff", "Referer", "https://evil.example/\xff"); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if last := h.Intake.Doors[len(h.Intake.Doors)-1]; last.UserAgent != "" {
		t.Errorf("%+v", last)
	}
	if want := taken + 5 + len(apitest.Encoders); len(h.Intake.Doors) != want || h.Intake.Bodies[want-2] != batch ||
		len(h.Intake.Unread) > 0 {
		t.Errorf("%d batches, want %d; unread %v", len(h.Intake.Doors), want, h.Intake.Unread)
	}
}

// TestDoorNeedsNoSite: a site that is not published accepts events by its key, because its pages may be on another
// system.
func TestDoorNeedsNoSite(t *testing.T) {
	t.Parallel()
	h, _, door := opened(t)
	admin, site := h.Ours.Tokens[schema.RoleAdmin], sitePath(h.Ours.Organization.ID, h.Ours.Site.ID)
	for _, call := range []string{"/publish", "/unpublish"} {
		h.Want(http.StatusOK, "POST", site+call, admin, nil)
		if a := h.Do("POST", door, "", batch); a.Status != http.StatusNoContent {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	h.Want(http.StatusNoContent, "DELETE", site, admin, nil)
	h.WantError(h.Do("POST", door, "", batch), http.StatusUnauthorized)
}

// TestDoorHosts: if a request names the page that sends the batch, the page's host must be one of the hosts of the
// publishable key.
func TestDoorHosts(t *testing.T) {
	t.Parallel()
	h, _, door := opened(t)
	for _, c := range []struct {
		origin, referer string
		taken           bool
	}{
		{"", "", true}, {"https://docs.example.com", "", true}, {"", "https://docs.example.com/a?b", true},
		{"HTTPS://DOCS.EXAMPLE.COM", "", true}, {"https://docs.example.com:8443", "", true}, {"https://docs.example.com.", "", true},
		{"http://docs.example.com", "", true}, {"https://a.b.example.org", "", true},
		{"https://example.org", "", false}, {"https://evilexample.org", "", false}, {"https://docs.example.com.evil.example", "", false},
		{"https://docs.example.com@evil.example", "", false}, {"https://evil.example", "", false},
		{"", "https://docs.example.com@evil.example/", false}, {"", `https://evil.example\@docs.example.com`, false},
		{"", "https://evil.example/?https://docs.example.com", false}, {"", "docs.example.com", false}, {"docs.example.com", "", false},
		{"https://evil.example", "https://docs.example.com/", false}, {"https://docs.example.com", "https://evil.example/", true},
		{"null", "", true}, {"null", "https://docs.example.com/", true}, {"null", "https://evil.example/", false},
		{"https://xn--docs-example-com.example", "", false}, {"https://xn--a.example.org", "", true},
	} {
		before, unread := len(h.Intake.Doors), len(h.Intake.Unread)
		a := h.Do("POST", door, "", batch, "Origin", c.origin, "Referer", c.referer)
		readable(t, a)
		if taken := len(h.Intake.Doors) > before; taken != c.taken || taken != (a.Status == http.StatusNoContent) {
			t.Errorf("%+v: %d %s", c, a.Status, a.Body)
		}
		if c.taken {
			continue
		}
		h.WantError(a, http.StatusForbidden)
		if got := h.Intake.Unread[unread:]; !slices.Equal(got, []string{"host_not_allowed"}) {
			t.Errorf("%+v is counted as %v", c, got)
		}
	}
}

// TestDoorRespectsOptOut: if a request has the header Sec-GPC: 1 and its publishable key has respectGPC, no event is
// stored.
func TestDoorRespectsOptOut(t *testing.T) {
	t.Parallel()
	h, id, door := opened(t)
	for _, value := range []string{"0", "true", ""} {
		h.Do("POST", door, "", batch, "Sec-GPC", value)
	}
	if len(h.Intake.Doors) != 3 {
		t.Errorf("%d batches", len(h.Intake.Doors))
	}
	// A request with the opt-out is answered with success, even if its events would be refused.
	for _, body := range []string{batch, "{"} {
		a := h.Do("POST", door, "", body, "Sec-GPC", "1", "Origin", "https://evil.example")
		if readable(t, a); a.Status != http.StatusNoContent {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	wantPixel(t, h.Do("GET", door+".gif?url=https://docs.example.com/", "", nil, "Sec-GPC", "1"), http.StatusOK)
	if want := slices.Repeat([]string{"opted_out"}, 3); len(h.Intake.Doors) != 3 || !slices.Equal(h.Intake.Unread,
		want) {
		t.Errorf("%d batches, %v", len(h.Intake.Doors), h.Intake.Unread)
	}
	h.Want(http.StatusOK, "PATCH", keysPath(h)+"/"+id, h.Ours.Tokens[schema.RoleAdmin], `{"respectGPC":false}`)
	h.Do("POST", door, "", batch, "Sec-GPC", "1")
	if len(h.Intake.Doors) != 4 {
		t.Errorf("%d batches", len(h.Intake.Doors))
	}
}

// TestDoorRefusals: scripts of any origin can read the answers to all refused requests, whichever part of the server
// refuses them.
func TestDoorRefusals(t *testing.T) {
	t.Parallel()
	h, id, door := opened(t)
	_, foreign := h.PublishableKey(h.Theirs, "docs.example.org")
	other := schema.PublishableKeyText(make([]byte, 32), id, 1)
	want := func(status int, path string, body any, header ...string) {
		t.Helper()
		a := h.Do("POST", path, "", body, header...)
		readable(t, a)
		h.WantError(a, status)
	}
	for _, text := range []string{"x", "opk_", other, door[3:] + "0", door[3 : len(door)-1], door[3:] + ".gif", "%00",
		"oct_" + door[7:], h.Ours.SiteKey} {
		want(http.StatusUnauthorized, "/e/"+text, batch)
	}
	want(http.StatusBadRequest, door, "")
	want(http.StatusBadRequest, door, nil)
	for _, late := range []string{"-1", "86400001", "x", "1.5", "", "1&late=2"} {
		want(http.StatusBadRequest, door+"?late="+late, batch)
	}
	large := batch + strings.Repeat(" ", 64<<10-len(batch))
	if a := h.Do("POST", door, "", large); a.Status != http.StatusNoContent {
		t.Errorf("64 KiB: %d %s", a.Status, a.Body)
	}
	want(http.StatusRequestEntityTooLarge, door, large+" ")
	for name, encode := range apitest.Encoders {
		want(http.StatusRequestEntityTooLarge, door, encode(t, []byte(large+" ")), "Content-Encoding", name)
	}
	want(http.StatusUnsupportedMediaType, door, batch, "Content-Encoding", "rot13")
	h.Intake.Run = func([]byte) error { return &schema.Error{Code: 422, Message: "another batch has this id"} }
	want(422, door, batch)
	h.Intake.Run = func([]byte) error { return errors.New("a private cause") }
	want(http.StatusInternalServerError, door, batch)
	h.Intake.Run = func([]byte) error {
		return &schema.Error{Code: schema.CodeUnavailable, Message: "full", RetryAfter: 3 * time.Second}
	}
	a := h.Do("POST", door, "", batch)
	if readable(t, a); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") != "3" {
		t.Errorf("%d, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	h.Intake.Run = nil

	h.Exec("update publishable_keys set generation = 2, previous_ends_at = now() - interval '1 second' where id = $1",
		id)
	want(http.StatusUnauthorized, door, batch)
	h.Want(http.StatusNoContent, "DELETE", keysPath(h)+"/"+id, h.Ours.Tokens[schema.RoleAdmin], nil)
	want(http.StatusUnauthorized, door, batch)
	if a := h.Do("POST", "/e/"+foreign, "", batch); a.Status != http.StatusNoContent ||
		h.Intake.Sites[len(h.Intake.Sites)-1].SiteID != h.Theirs.Site.ID {
		t.Errorf("%d %s, %+v", a.Status, a.Body, h.Intake.Sites)
	}
}

// TestDoorAnswersPreflights: a browser that sends a preflight request gets the permission to post.
func TestDoorAnswersPreflights(t *testing.T) {
	t.Parallel()
	h, _, door := opened(t)
	for _, path := range []string{door, door + ".gif", "/e/x"} {
		a := h.Do("OPTIONS", path, "", nil, "Origin", "https://docs.example.com", "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "content-type")
		readable(t, a)
		if a.Status != http.StatusNoContent || !strings.Contains(a.Header.Get("Access-Control-Allow-Methods"),
			"POST") ||
			!strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "Content-Type") {
			t.Errorf("%s: %d %v", path, a.Status, a.Header)
		}
	}
}

func wantPixel(t *testing.T, a apitest.Answer, status int) {
	t.Helper()
	readable(t, a)
	if a.Status != status || len(a.Body) != 43 || a.Header.Get("Content-Type") != "image/gif" ||
		a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("%d, want %d: %q %v", a.Status, status, a.Body, a.Header)
	}
	image, err := gif.DecodeAll(bytes.NewReader(a.Body))
	if err != nil || len(image.Image) != 1 || image.Image[0].Bounds().Dx() != 1 || image.Image[0].Bounds().Dy() != 1 {
		t.Errorf("%+v, %v", image, err)
		return
	}
	if _, _, _, alpha := image.Image[0].At(0, 0).RGBA(); alpha != 0 {
		t.Error("the pixel can be seen")
	}
}

// TestPixel: a request for the image has the same effect as a batch with one page view. The answer is always the image,
// even if the event is refused.
func TestPixel(t *testing.T) {
	t.Parallel()
	h, id, door := opened(t)
	type view struct {
		Type, URL, Referrer, Title string
	}
	for query, c := range map[string]struct {
		referer string
		want    view
	}{
		"":       {"https://docs.example.com/a", view{"page_view", "https://docs.example.com/a", "", ""}},
		"?url=&": {"https://docs.example.com/a", view{"page_view", "https://docs.example.com/a", "", ""}},
		"?url=" + url.QueryEscape(`https://docs.example.com/?a="b"&c`) + "&referrer=https://search.example/&title=" + url.QueryEscape("A \"b\" \u00e9 </script>"): {
			"https://docs.example.com/", view{"page_view", `https://docs.example.com/?a="b"&c`, "https://search.example/", "A \"b\" \u00e9 </script>"},
		},
		"?title=x": {"", view{"page_view", "", "", "x"}},
	} {
		wantPixel(t, h.Do("GET", door+".gif"+query, "", nil, "Referer", c.referer, "User-Agent", "Mozilla/5.0 test"),
			http.StatusOK)
		from, body := h.Intake.Doors[len(h.Intake.Doors)-1], h.Intake.Bodies[len(h.Intake.Bodies)-1]
		var sent struct {
			ID     *string
			Events []view
		}
		if err := json.Unmarshal([]byte(body), &sent); err != nil || len(sent.Events) != 1 || sent.Events[0] != c.want {
			t.Errorf("%s: %s, %v", query, body, err)
		}
		if !from.Pixel || from.Key != id || from.UserAgent != "Mozilla/5.0 test" || from.Late != 0 || sent.ID != nil {
			t.Errorf("%s: %+v, %s", query, from, body)
		}
	}
	taken := len(h.Intake.Doors)
	wantPixel(t, h.Do("GET", door+".gif", "", nil, "Referer", "https://evil.example/"), http.StatusOK)
	if len(h.Intake.Doors) != taken || !slices.Equal(h.Intake.Unread, []string{"host_not_allowed"}) {
		t.Errorf("%d views, %v", len(h.Intake.Doors), h.Intake.Unread)
	}
	for code, status := range map[schema.Code]int{400: 200, 403: 200, 409: 200, 422: 200, 429: 429, 503: 503,
		500: 500} {
		h.Intake.Run = func([]byte) error { return &schema.Error{Code: code, Message: "no"} }
		wantPixel(t, h.Do("GET", door+".gif", "", nil), status)
	}
	h.Intake.Run = func([]byte) error { panic("at the intake") }
	wantPixel(t, h.Do("GET", door+".gif", "", nil), http.StatusInternalServerError)
	h.Intake.Run = nil
	for _, text := range []string{"x", "", door[3:] + "0", schema.PublishableKeyText(make([]byte, 32), id, 1)} {
		a := h.Do("GET", "/e/"+text+".gif", "", nil)
		if wantPixel(t, a, http.StatusNotFound); a.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%v", a.Header)
		}
	}
	wantPixel(t, h.Do("GET", door+".gif?url=a&url=b", "", nil), http.StatusOK)
	h.WantError(h.Do("GET", door, "", nil), http.StatusMethodNotAllowed)
	taken = len(h.Intake.Doors)
	unread := len(h.Intake.Unread)
	for _, referer := range []string{"https://docs.example.com/", "https://evil.example/"} {
		a := h.Do("HEAD", door+".gif", "", nil, "Referer", referer)
		if a.Status != http.StatusOK || a.Header.Get("Content-Type") != "image/gif" || len(a.Body) > 0 {
			t.Errorf("HEAD: %d %v", a.Status, a.Header)
		}
	}
	if len(h.Intake.Doors) != taken || len(h.Intake.Unread) != unread {
		t.Errorf("HEAD counts a view: %d views, %v", len(h.Intake.Doors), h.Intake.Unread)
	}
}

// TestDoorIsReadableForEveryMethod: a page of any origin can also read the answer to a request with a wrong method.
func TestDoorIsReadableForEveryMethod(t *testing.T) {
	t.Parallel()
	h, _, door := opened(t)
	for _, path := range []string{door, "/e/x"} {
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "REPORT"} {
			a := h.Do(method, path, "", nil, "Origin", "https://docs.example.com")
			readable(t, a)
			if a.Status != http.StatusMethodNotAllowed || !strings.Contains(a.Header.Get("Allow"), "POST") {
				t.Errorf("%s %s: %d %v", method, path, a.Status, a.Header)
			}
		}
	}
	a := h.Do("DELETE", "/v1/user", "", nil, "Origin", "https://docs.example.com")
	if a.Status != http.StatusMethodNotAllowed || a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another operation: %d %v", a.Status, a.Header)
	}
}

// TestDoorDailyCap: batches of a key are accepted until the key has reached its daily cap. Later batches are refused,
// and their bodies are not read.
func TestDoorDailyCap(t *testing.T) {
	t.Parallel()
	h, id, door := opened(t)
	h.Exec("update publishable_keys set daily_cap = 7 where id = $1", id)
	of := func(n int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"type":"page_view"},`, n), ",") + `]}`
	}
	post := func(body string, status int) apitest.Answer {
		t.Helper()
		a := h.Do("POST", door, "", body)
		if readable(t, a); a.Status != status {
			t.Fatalf("%d %s, want %d", a.Status, a.Body, status)
		}
		return a
	}
	h.Intake.Run = func([]byte) error { return schema.BadRequest("no") }
	for range 10 {
		post(of(5), http.StatusBadRequest) // Refused events are not counted.
	}
	h.Intake.Run = nil
	post(of(5), http.StatusNoContent)
	wantPixel(t, h.Do("GET", door+".gif", "", nil), http.StatusOK)
	post(of(5), http.StatusNoContent) // The batch that reaches the cap is accepted completely.
	taken := len(h.Intake.Doors)
	for range 2 {
		a := post(of(1), http.StatusTooManyRequests)
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		if away := time.Until(midnight) - time.Duration(wait)*time.Second; err != nil || away < -time.Minute ||
			away > time.Minute {
			t.Errorf("Retry-After %d, %v from midnight: %v", wait, away, err)
		}
	}
	wantPixel(t, h.Do("GET", door+".gif", "", nil), http.StatusTooManyRequests)
	if want := slices.Repeat([]string{"daily_cap"}, 3); len(h.Intake.Doors) != taken || !slices.Equal(h.Intake.Unread,
		want) {
		t.Errorf("%d more batches, unread %v", len(h.Intake.Doors)-taken, h.Intake.Unread)
	}
	// All texts of a key share its cap.
	rotated := apitest.Ask[schema.PublishableKey](h, schema.RoleAdmin, "POST", keysPath(h)+"/"+id+"/rotate", nil, 200)
	if a := h.Do("POST", "/e/"+rotated.Key, "", of(1)); a.Status != http.StatusTooManyRequests {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.Want(http.StatusOK, "PATCH", keysPath(h)+"/"+id, h.Ours.Tokens[schema.RoleAdmin], `{"dailyCap":100}`)
	post(of(1), http.StatusNoContent)
}

// TestDoorIsLimited: the rates of requests are limited for each address, for each key, and for all keys of a site
// together.
func TestDoorIsLimited(t *testing.T) {
	t.Parallel()
	until := func(h *apitest.Harness, door string, header ...string) (taken int, a apitest.Answer) {
		t.Helper()
		for ; taken < 100; taken++ {
			a = h.Do("POST", door, "", batch, header...)
			if readable(t, a); a.Status != http.StatusNoContent {
				break
			}
		}
		return taken, a
	}
	t.Run("address", func(t *testing.T) {
		t.Parallel()
		h, _, door := opened(t, func(c *frame.Config, _ *api.Deps) { c.PublicRateLimit = 1 })
		for i := range 2 {
			n, a := until(h, door, "X-Forwarded-For", fmt.Sprint("198.51.100.", i+1))
			if e := h.WantError(a, http.StatusTooManyRequests); n < 2 || a.Header.Get("Retry-After") == "" ||
				!strings.Contains(e.Message, "address") {
				t.Errorf("%d, %+v", n, e)
			}
		}
		a := h.Do("GET", door+".gif", "", nil, "X-Forwarded-For", "198.51.100.1")
		if wantPixel(t, a, http.StatusTooManyRequests); a.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	})
	t.Run("key", func(t *testing.T) {
		t.Parallel()
		h, _, door := opened(t, func(c *frame.Config, _ *api.Deps) { c.KeyRateLimit = 1 })
		_, other := h.PublishableKey(h.Ours, "docs.example.com")
		_, third := h.PublishableKey(h.Ours, "docs.example.com")
		for _, text := range []string{door, "/e/" + other} {
			n, a := until(h, text)
			if e := h.WantError(a, http.StatusTooManyRequests); n < 2 || a.Header.Get("X-RateLimit-Limit") != "2" ||
				a.Header.Get("X-RateLimit-Remaining") != "0" || a.Header.Get("Retry-After") == "" ||
				!strings.Contains(e.Message, "key") {
				t.Errorf("%d, %+v, %v", n, e, a.Header)
			}
		}
		n, a := until(h, "/e/"+third)
		if e := h.WantError(a, http.StatusTooManyRequests); n > 3 || !strings.Contains(e.Message,
			"keys of this site") && !strings.Contains(e.Message, "this key") {
			t.Errorf("%d, %+v", n, e)
		}
		_, theirs := h.PublishableKey(h.Theirs, "docs.example.com")
		if a := h.Do("POST", "/e/"+theirs, "", batch); a.Status != http.StatusNoContent {
			t.Errorf("another site: %d %s", a.Status, a.Body)
		}
	})
	t.Run("invented keys", func(t *testing.T) {
		t.Parallel()
		h, _, _ := opened(t, func(c *frame.Config, _ *api.Deps) { c.WrongTokenRateLimit = 2 })
		for i := 0; ; i++ {
			invented := schema.PublishableKeyText(make([]byte, 32), schema.NewID(), 1)
			a := h.Do("POST", "/e/"+invented, "", batch, "X-Forwarded-For", "198.51.100.1")
			if readable(t, a); a.Status == http.StatusTooManyRequests {
				break
			}
			if h.WantError(a, http.StatusUnauthorized); i > 100 {
				t.Fatal("no limit")
			}
		}
	})
}

// TestDoorBodiesWait: the server answers 100 Continue only if the publishable key is valid.
func TestDoorBodiesWait(t *testing.T) {
	t.Parallel()
	h, _, door := opened(t)
	expect := func(path string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", path, len(batch))
	}
	w := h.Wire()
	w.Send(expect("/e/opk_invented"))
	a := w.Answer()
	readable(t, a)
	h.WantError(a, http.StatusUnauthorized)
	w.WantClosed()
	w = h.Wire()
	w.Send(expect(door))
	if a := w.Answer(); a.Status != http.StatusContinue {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	w.Send(batch)
	if a := w.Answer(); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
