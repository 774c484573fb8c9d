package insights_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func TestEventsGoToTheIntake(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	h.Exec("update sites set store_clear_ids = true where id = $1", h.Ours.Site.ID)
	events := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
	for i, token := range []string{h.Ours.SiteKey, h.Ours.Tokens[schema.RoleGuest], h.Ours.Tokens[schema.RoleAdmin]} {
		a := h.Do("POST", events, token, `{"events":[1]}`, "X-Forwarded-For", "198.51.100.7", "Idempotency-Key", "k")
		if a.Status != 204 || len(a.Body) != 0 || a.Header.Get("Content-Type") != "" {
			t.Fatalf("%d %q", a.Status, a.Body)
		}
		site, from := h.Intake.Sites[i], h.Intake.From[i]
		if site != (schema.EventSite{OrganizationID: h.Ours.Organization.ID, SiteID: h.Ours.Site.ID, StoreClearIDs: true}) {
			t.Errorf("site %+v", site)
		}
		if from.IP.String() != "198.51.100.7" || from.IdempotencyKey != "k" || time.Since(from.Now).Abs() > time.Hour {
			t.Errorf("from %+v", from)
		}
		// Only user tokens may import old events.
		if from.AnyPast != (token != h.Ours.SiteKey) {
			t.Errorf("token %d: events of any past %v", i, from.AnyPast)
		}
	}
	h.Intake.Run = func([]byte) error { return schema.Invalid("events[0].type", "is required") }
	e := h.WantError(h.Do("POST", events, h.Ours.SiteKey, `{"events":[{}]}`), 400)
	if e.Message != "events[0].type is required" {
		t.Errorf("%+v", e)
	}
	h.Intake.Run = func([]byte) error { return schema.TooManyRequests("slow down", 1500*time.Millisecond) }
	if a := h.Do("POST", events, h.Ours.SiteKey, `{"events":[]}`); a.Status != 429 || a.Header.Get("Retry-After") != "2" {
		t.Errorf("%d, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	h.WantError(h.Do("POST", events, h.Ours.SiteKey, `{"events":[]}`, "Idempotency-Key", strings.Repeat("x", 256)), 400)
}

// TestUnknownEventsAreRefusedAlone: a client may ask the server to refuse only the events of unknown types, instead of
// the whole request. For front ends, this is the default.
func TestUnknownEventsAreRefusedAlone(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	frontEnd := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true})
	for name, c := range map[string]struct {
		token, prefer    string
		unknown          int
		alone            bool
		applied, refused string
	}{
		"site key":                  {h.Ours.SiteKey, "", 0, false, "", ""},
		"site key, lenient":         {h.Ours.SiteKey, "handling=lenient", 0, true, "handling=lenient", ""},
		"site key, some refused":    {h.Ours.SiteKey, `respond-async, HANDLING="Lenient"; x=1, handling=strict`, 3, true, "handling=lenient", "3"},
		"site key, strict":          {h.Ours.SiteKey, "handling=strict", 0, false, "", ""},
		"site key, another":         {h.Ours.SiteKey, "handling, return=minimal", 0, false, "", ""},
		"user, lenient":             {h.Ours.Tokens[schema.RoleAdmin], "handling=lenient", 0, true, "handling=lenient", ""},
		"front end":                 {frontEnd, "", 0, true, "", ""},
		"front end, some refused":   {frontEnd, "", 2, true, "", "2"},
		"front end, asks":           {frontEnd, "handling=lenient", 2, true, "handling=lenient", "2"},
		"front end, strict":         {frontEnd, "handling=strict", 0, false, "", ""},
		"front end, something else": {frontEnd, "return=minimal", 0, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h.Intake.Unknown = c.unknown
			a := h.Do("POST", h.EventsPath(), c.token, `{"events":[]}`, "Prefer", c.prefer)
			from := h.Intake.From[len(h.Intake.From)-1]
			if a.Status != 204 || len(a.Body) != 0 || from.KnownTypes != c.alone {
				t.Errorf("%d %s, alone %v", a.Status, a.Body, from.KnownTypes)
			}
			if applied, refused := a.Header.Get("Preference-Applied"), a.Header.Get("Octavo-Events-Refused"); applied != c.applied || refused != c.refused {
				t.Errorf("applied %q, refused %q", applied, refused)
			}
			if exposed := a.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Octavo-Events-Refused") {
				t.Errorf("pages may read %q", exposed)
			}
		})
	}
}

// TestPlacesAreStated: trusted proxies and front ends can send visitors' places in headers. Invalid places are ignored,
// and so are places from other senders.
func TestPlacesAreStated(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	behind := h.In(t)
	behind.Serve(nil, func(c *frame.Config, _ *api.Deps) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	frontEnd := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true})
	post := func(h *apitest.Harness, token string, header ...string) schema.ClientInfo {
		t.Helper()
		a := h.Do("POST", h.EventsPath(), token, `{"events":[]}`, append(header, "X-Forwarded-For", "198.51.100.7")...)
		if a.Status != 204 {
			t.Fatalf("%v: %d %s", header, a.Status, a.Body)
		}
		return h.Intake.From[len(h.Intake.From)-1]
	}
	berlin := schema.Place{Country: "DE", Latitude: 52.5, Longitude: 13.25, HasPoint: true}
	said := []string{"x-location-country", "de", "x-location-latitude", "52.5", "x-location-longitude", "13.25", "x-location-continent", "EU"}
	for name, c := range map[string]struct {
		h     *apitest.Harness
		token string
		place schema.Place
		ip    string
	}{
		"front end":               {h, frontEnd, berlin, "198.51.100.7"},
		"front end, trusted":      {behind, frontEnd, berlin, "198.51.100.7"},
		"site key":                {h, h.Ours.SiteKey, schema.Place{}, "127.0.0.1"},
		"user":                    {h, h.Ours.Tokens[schema.RoleAdmin], schema.Place{}, "127.0.0.1"},
		"site key, trusted proxy": {behind, h.Ours.SiteKey, berlin, "198.51.100.7"},
		"a user, trusted proxy":   {behind, h.Ours.Tokens[schema.RoleAdmin], berlin, "198.51.100.7"},
	} {
		if from := post(c.h, c.token, said...); from.Place != c.place || from.IP.String() != c.ip {
			t.Errorf("%s: %+v of %s", name, from.Place, from.IP)
		}
	}
	for country, want := range map[string]string{
		"DE": "DE", "gb": "GB", "UK": "GB", "XK": "XK", "XX": "", "T1": "", "ZZ": "", "D": "", "DEU": "", "": "", "\xff\xfe": "", "276": "", "EU": "", "DE, FR": "",
	} {
		if got := post(h, frontEnd, "X-Location-Country", country).Place; got != (schema.Place{Country: want}) {
			t.Errorf("country %q: %+v", country, got)
		}
	}
	for _, degrees := range [][2]string{{"91", "0"}, {"0", "181"}, {"-90.1", "0"}, {"NaN", "0"}, {"0", "Inf"}, {"52.5", ""}, {"", "13"}, {"1e400", "0"}, {"52,5", "13"}, {strings.Repeat("1", 1000), "0"}} {
		if got := post(h, frontEnd, "X-Location-Country", "DE", "X-Location-Latitude", degrees[0], "X-Location-Longitude", degrees[1]).Place; got != (schema.Place{Country: "DE"}) {
			t.Errorf("%q: %+v", degrees, got)
		}
	}
	if got := post(h, frontEnd, "X-Location-Latitude", "-90", "X-Location-Longitude", "180").Place; got != (schema.Place{Latitude: -90, Longitude: 180, HasPoint: true}) {
		t.Errorf("%+v", got)
	}
}

func TestQuestionsGoToInsights(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights"
	a := h.Do("POST", base+"/events/aggregate", h.Ours.Tokens[schema.RoleRead], `{"range":"lastYear"}`)
	if a.Status != 200 || string(a.Body) != `{"columns":[]}` || a.Header.Get("X-Octavo-Site") != h.Ours.Site.ID {
		t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
	}
	caller := strings.Fields(a.Header.Get("X-Octavo-Caller"))
	if len(caller) != 3 || caller[0] != h.Ours.Organization.ID || caller[1] == "" ||
		caller[2] != a.Header.Get("X-Request-Id") {
		t.Errorf("asked by %v", caller)
	}
	for directives, fresh := range map[string]string{"": "false", "no-transform, max-age=60": "false", "No-Cache": "true", "a, no-store": "true", "max-age=0": "true"} {
		a := h.Do("POST", base+"/events/aggregate", h.Ours.Tokens[schema.RoleRead], `{"range":"lastYear"}`, "Cache-Control", directives)
		if a.Status != 200 || a.Header.Get("X-Octavo-Fresh") != fresh {
			t.Errorf("Cache-Control %q: %d %s, fresh %s", directives, a.Status, a.Body, a.Header.Get("X-Octavo-Fresh"))
		}
	}
	h.WantError(h.Do("POST", base+"/events/aggregate", h.Ours.Tokens[schema.RoleRead], `{}`), 400)
	for operation, want := range map[string]string{
		"funnel": `{"steps":[]}`, "retention": `{"cohorts":[]}`,
		"transitions": `{"views":0,"entries":0,"exits":0,"reloads":0,"from":[],"to":[]}`,
	} {
		a := h.Do("POST", base+"/events/"+operation, h.Ours.Tokens[schema.RoleRead], `{"range":"lastYear"}`)
		if a.Status != 200 || string(a.Body) != want || a.Header.Get("X-Octavo-Site") != h.Ours.Site.ID {
			t.Errorf("%s: %d %s %v", operation, a.Status, a.Body, a.Header)
		}
		h.WantError(h.Do("POST", base+"/events/"+operation, h.Ours.Tokens[schema.RoleRead], `{}`), 400)
		h.WantError(h.Do("POST", base+"/events/"+operation, h.Ours.SiteKey, `{"range":"lastYear"}`), 403)
	}
	if a := h.Do("GET", base+"/visitor-segments", h.Ours.Tokens[schema.RoleRead], nil); string(a.Body) != `{"items":[],"count":0}` {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestQuestionsAreWatched: all operations that query events are Watched, so a query ends when its client disconnects.
func TestQuestionsAreWatched(t *testing.T) {
	t.Parallel()
	watched := map[string]bool{}
	for _, op := range api.Table().Operations {
		watched[op.Path] = op.Watched
	}
	queries := []string{"/visitor-segments"}
	for _, of := range query.Reports() {
		path := "/events/" + string(of)
		if of == query.Pages {
			path = "/pages"
		}
		queries = append(queries, path)
	}
	for _, path := range queries {
		if !watched["/orgs/{organizationId}/sites/{siteId}/insights"+path] {
			t.Errorf("%s is not watched", path)
		}
	}
}

// TestEventBalance reads a site's balance, which only admins of its organization may see.
func TestEventBalance(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events/balance"
	got := apitest.Ask[schema.EventBalance](h, schema.RoleAdmin, "GET", path, nil, http.StatusOK)
	if got.Site != h.Ours.Site.ID || got.Received != 9 || got.Refused["unknown_type"] != 3 ||
		got.Earlier != 2 || got.UnreadRequests["overloaded"] != 2 {
		t.Errorf("%+v", got)
	}
	h.WantError(h.Do("GET", path, h.Ours.Tokens[schema.RoleEdit], nil), http.StatusForbidden)
}

// TestVisitorErasure: admins erase visitors. A visitor's id may have any characters.
func TestVisitorErasure(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/visitors/"
	got := apitest.Ask[schema.VisitorErasure](h, schema.RoleAdmin, "DELETE", base+"a%2Fb%20%C3%A9", nil, http.StatusAccepted)
	if got.Site != h.Ours.Site.ID || got.Visitor != "a/b \u00e9" || got.State != schema.ErasurePending {
		t.Errorf("%+v", got)
	}
	if got := apitest.Ask[schema.VisitorErasure](h, schema.RoleAdmin, "GET", base+"x", nil, http.StatusOK); got.Visitor != "x" {
		t.Errorf("%+v", got)
	}
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.WantError(h.Do("GET", base+"nobody", admin, nil), http.StatusNotFound)
	h.WantError(h.Do("DELETE", base+strings.Repeat("x", 257), admin, nil), http.StatusBadRequest)
	h.WantError(h.Do("DELETE", base+"%ff", admin, nil), http.StatusNotFound)
	for _, token := range []string{h.Ours.Tokens[schema.RoleEdit], h.Ours.SiteKey} {
		h.WantError(h.Do("DELETE", base+"x", token, nil), http.StatusForbidden)
	}
}

// TestEventSettings: the settings of a site's insights can be read and changed, and bad values are refused.
func TestEventSettings(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/settings"
	admin := h.Ours.Tokens[schema.RoleAdmin]
	const (
		none = `{"object":"insights-settings",` +
			`"timezone":"UTC","weekStart":"monday","hosts":[],"respectGPC":true}`
		days = `{"object":"insights-settings","retentionDays":3650,` +
			`"timezone":"UTC","weekStart":"monday","hosts":[],"respectGPC":true}`
		all = `{"object":"insights-settings","retentionDays":7,` +
			`"timezone":"Europe/Berlin","weekStart":"sunday","hosts":["old.example.com"],"respectGPC":false}`
	)
	for _, step := range []struct{ method, body, want string }{
		{"GET", "", none},
		{"PATCH", `{"retentionDays":3650}`, days},
		{"PATCH", `{}`, days},
		{"GET", "", days},
		{
			"PATCH", `{"retentionDays":7,"timezone":"Europe/Berlin","weekStart":"sunday",` +
				`"hosts":["Old.example.com","old.example.com"],"respectGPC":false}`, all,
		},
		{"PATCH", `{"retentionDays":7}`, all},
		{"PATCH", `{"timezone":"Europe/Berlin"}`, all},
		{"PATCH", `{"hosts":[]}`, strings.Replace(all, `"old.example.com"`, "", 1)},
		{"PATCH", `{"hosts":["old.example.com"]}`, all},
		{"PATCH", `{"timezone":"UTC","weekStart":"monday","hosts":[],"respectGPC":true}`,
			strings.Replace(days, "3650", "7", 1)},
		{"PATCH", `{"retentionDays":null}`, none},
	} {
		var body any
		if step.body != "" {
			body = step.body
		}
		if a := h.Do(step.method, path, admin, body); a.Status != 200 || string(a.Body) != step.want {
			t.Errorf("%+v: %d %s", step, a.Status, a.Body)
		}
	}
	for body, problem := range map[string]string{
		`{"retentionDays":0}`: "retentionDays", `{"retentionDays":3651}`: "retentionDays",
		`{"retentionDays":"7"}`:        "retentionDays",
		`{"timezone":"europe/berlin"}`: `did you mean "Europe/Berlin"?`, `{"timezone":"Local"}`: "timezone",
		`{"timezone":""}`: "timezone", `{"timezone":null}`: "timezone", `{"timezone":"../UTC"}`: "timezone",
		`{"weekStart":"Monday"}`: "weekStart", `{"hosts":["*.example.com"]}`: "hosts[0]",
		`{"hosts":["https://a.example"]}`:                                   "hosts[0]",
		`{"hosts":[` + strings.Repeat(`"a.example",`, 50) + `"a.example"]}`: "hosts", `{"respectGPC":1}`: "respectGPC",
		`{"retentionDays":5,"timezone":"x"}`: "timezone",
	} {
		if e := h.WantError(h.Do("PATCH", path, admin, body), 400); !strings.Contains(e.Message, problem) {
			t.Errorf("%s: %+v", body, e)
		}
	}
	// A request with an unknown member is refused. Otherwise a misspelled setting would seem to be set.
	for body, member := range map[string]string{
		`{"retention":30}`: "retention", `{"retentionDays":30,"RetentionDays":7}`: "RetentionDays",
		`{"object":"insights-settings"}`: "object",
	} {
		if e := h.WantError(h.Do("PATCH", path, admin, body), 400); !strings.Contains(e.Message,
			member+" is not a known member") {
			t.Errorf("%s: %+v", body, e)
		}
	}
	if a := h.Do("GET", path, admin, nil); string(a.Body) != none {
		t.Errorf("after what was refused: %s", a.Body)
	}
	// Callers who may query the site's events may read the settings.
	h.Want(200, "GET", path, h.Ours.Tokens[schema.RoleRead], nil)
	h.WantError(h.Do("GET", path, h.Ours.SiteKey, nil), http.StatusForbidden)
	h.WantError(h.Do("PATCH", path, h.Ours.Tokens[schema.RoleCreate], `{}`), http.StatusForbidden)
	h.WantError(h.Do("GET", path, h.Theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	theirs := "/v1/orgs/" + h.Theirs.Organization.ID + "/sites/" + h.Theirs.Site.ID + "/insights/settings"
	h.Want(200, "PATCH", theirs, h.Theirs.Tokens[schema.RoleAdmin], `{"timezone":"Asia/Kolkata"}`)
	if a := h.Do("GET", path, admin, nil); string(a.Body) != none {
		t.Errorf("another site's change: %s", a.Body)
	}
}

// TestNewKeysRespectGPC: a key that is created without respectGPC gets the site's setting.
func TestNewKeysRespectGPC(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights"
	for _, site := range []string{"true", "false"} {
		h.Want(200, "PATCH", base+"/settings", h.Ours.Tokens[schema.RoleAdmin], `{"respectGPC":`+site+`}`)
		for member, want := range map[string]bool{
			"": site == "true", `,"respectGPC":true`: true, `,"respectGPC":false`: false,
		} {
			key := apitest.Ask[schema.PublishableKey](h, schema.RoleAdmin, "POST", base+"/keys",
				`{"name":"k","hosts":["a.example"]`+member+`}`, 201)
			if key.RespectGPC != want {
				t.Errorf("site %s, key%s: %t", site, member, key.RespectGPC)
			}
		}
	}
}
