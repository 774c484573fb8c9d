package insights_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/schema"
)

// octavoAt is the public address of the harness's server.
const octavoAt = "https://docs.example.com/base"

// pageOf describes the page of a site that is checked.
type pageOf struct {
	head, body string
	policy     string // policy is the value of Content-Security-Policy.
	status     int    // status is the page's status; 0 means 200.
	media      string // media is the media type; "" means HTML.
	files      map[string]string
	door       int // door is the status with which a proxy answers a batch; 0 means that there is no proxy.
}

// site serves the page and returns its address.
func (p pageOf) site(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file, found := p.files[r.URL.Path]; found {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(file))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/stats/e/") && r.Method == http.MethodPost && p.door != 0 {
			w.WriteHeader(p.door)
			return
		}
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if p.media != "" {
			w.Header().Set("Content-Type", p.media)
		}
		if p.policy != "" {
			w.Header().Set("Content-Security-Policy", p.policy)
		}
		if p.status != 0 {
			w.WriteHeader(p.status)
		}
		_, _ = fmt.Fprintf(w, "<!doctype html><html><head>%s</head><body>%s</body></html>", p.head, p.body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// TestInstallationCheck checks broken pages, at least one for each verdict. It also checks pages that load the tracker
// correctly, in each possible way.
func TestInstallationCheck(t *testing.T) {
	t.Parallel()
	h := checker(t, apitest.New(t))
	base := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights"
	admin := h.Ours.Tokens[schema.RoleAdmin]
	id, key := h.PublishableKey(h.Ours, outboundtest.Loopback)
	_, elsewhere := h.PublishableKey(h.Ours, "other.example.com", "*.example.org")
	_, foreign := h.PublishableKey(h.Theirs, outboundtest.Loopback)
	deletedID, deleted := h.PublishableKey(h.Ours, outboundtest.Loopback)
	h.Want(http.StatusNoContent, "DELETE", base+"/keys/"+deletedID, admin, nil)
	rotatedID, rotated := h.PublishableKey(h.Ours, outboundtest.Loopback)
	h.Want(http.StatusOK, "POST", base+"/keys/"+rotatedID+"/rotate", admin, map[string]any{"overlap": 0})
	keptID, kept := h.PublishableKey(h.Ours, outboundtest.Loopback)
	h.Want(http.StatusOK, "POST", base+"/keys/"+keptID+"/rotate", admin, nil)

	snippet := func(kind, key string) string {
		text, err := tracker.Snippet(kind, tracker.Site{Base: octavoAt, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	tag := snippet("html", key)
	plain := snippet("mkdocs-plain", key)
	loader := plain[strings.Index(plain, "const script"):]
	var script string
	for _, file := range tracker.Files() {
		if file.Path == "/o.docs.js" {
			script = string(file.Plain)
		}
	}
	proxied := `<script defer src="/stats/o.docs.js" data-key="` + key + `"></script>`
	meta := func(policy string) string {
		return `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`
	}
	for name, c := range map[string]struct {
		page          pageOf
		verdict, word string
	}{
		"installed":             {pageOf{head: tag}, schema.VerdictInstalled, ""},
		"installed in the body": {pageOf{body: tag}, schema.VerdictInstalled, ""},
		"installed, newest": {
			pageOf{head: `<script src="` + octavoAt + `/o.js" data-key="` + key + `"></script>`},
			schema.VerdictInstalled, "",
		},
		"installed, older text": {pageOf{head: snippet("html", kept)}, schema.VerdictInstalled, ""},
		"installed by a pixel": {
			pageOf{body: `<img src="` + octavoAt + `/e/` + key + `.gif?url=x">`},
			schema.VerdictInstalled, "",
		},
		"installed by a loader": {
			pageOf{head: `<script src="octavo.js"></script>`, files: map[string]string{"/octavo.js": loader}},
			schema.VerdictInstalled, "",
		},
		"installed by a package": {
			pageOf{body: `<script>init({server:"` + octavoAt + `",key:"` + key + `"})</script>`},
			schema.VerdictInstalled, "",
		},
		"installed with policies": {pageOf{
			head:   meta("connect-src https:; object-src 'none'") + tag,
			policy: "default-src 'self'; script-src 'self' https://docs.example.com; connect-src *, img-src 'none'",
		}, schema.VerdictInstalled, ""},
		"installed with a nonce": {pageOf{
			head:   strings.Replace(tag, "<script ", `<script nonce="r4nd0m" `, 1),
			policy: "script-src 'nonce-r4nd0m' 'strict-dynamic'",
		}, schema.VerdictInstalled, ""},

		"nothing": {
			pageOf{head: "<script>opk_</script>"},
			schema.VerdictNotFound, "octavo site snippet",
		},
		"a snippet that is shown": {
			pageOf{body: "<pre>" + strings.ReplaceAll(tag, "<", "&lt;") + "</pre>"},
			schema.VerdictNotFound, "",
		},
		"a comment": {
			pageOf{body: "<!-- " + tag[strings.Index(tag, "<script"):] + " -->"},
			schema.VerdictNotFound, "",
		},
		"a script that is not there": {
			pageOf{head: `<script src="` + octavoAt + `/tracker.js" data-key="` + key + `"></script>`},
			schema.VerdictNotFound, "tracker.js",
		},

		"a key of nobody": {
			pageOf{head: strings.ReplaceAll(tag, key, key[:len(key)-3]+"000")},
			schema.VerdictWrongKey, "not made",
		},
		"a key that is deleted": {pageOf{head: snippet("html", deleted)}, schema.VerdictWrongKey, "deleted"},
		"another site's key": {
			pageOf{head: snippet("html", foreign)},
			schema.VerdictWrongKey, "another site",
		},
		"a key that is over": {pageOf{head: snippet("html", rotated)}, schema.VerdictWrongKey, "rotated"},
		"a wrong key in a loader": {pageOf{
			head:  `<script src="/octavo.js"></script>`,
			files: map[string]string{"/octavo.js": strings.ReplaceAll(loader, key, foreign)},
		}, schema.VerdictWrongKey, "another site"},

		"another host": {
			pageOf{head: snippet("html", elsewhere)},
			schema.VerdictHostNotAllowed, "Add 127.0.0.1",
		},

		"a header refuses the script": {
			pageOf{head: tag, policy: "script-src 'self'"},
			schema.VerdictBlockedByCSP, "header) refuses " + octavoAt + "/o.docs",
		},
		"a header refuses the door": {
			pageOf{head: tag, policy: "connect-src 'self'"},
			schema.VerdictBlockedByCSP, "connect-src",
		},
		"a default refuses both": {
			pageOf{head: tag, policy: "default-src 'none'"},
			schema.VerdictBlockedByCSP, "default-src",
		},
		"the second of two refuses": {
			pageOf{head: tag, policy: "img-src 'none', script-src-elem cdn.example.com"},
			schema.VerdictBlockedByCSP, "script-src-elem",
		},
		"a meta element refuses the script": {
			pageOf{head: meta("script-src 'self'") + tag},
			schema.VerdictBlockedByCSP, "meta element",
		},
		"a meta element refuses the door": {
			pageOf{head: tag + meta("connect-src 'self'")},
			schema.VerdictBlockedByCSP, "connect-src",
		},
		"a nonce of another script": {
			pageOf{head: tag, policy: "script-src 'nonce-x' 'strict-dynamic' https:"},
			schema.VerdictBlockedByCSP, "script-src",
		},
		"a policy refuses the pixel": {
			pageOf{body: snippet("pixel", key), policy: "img-src 'self'"},
			schema.VerdictBlockedByCSP, "img-src",
		},

		"a proxy of the site": {pageOf{
			head: proxied, files: map[string]string{"/stats/o.docs.js": script}, door: 204,
		}, schema.VerdictBehindProxy, "OCTAVO_TRUSTED_PROXIES"},
		"a proxy without the door": {pageOf{
			head: proxied, files: map[string]string{"/stats/o.docs.js": script}, door: 405,
		}, schema.VerdictBehindProxy, "the status 405"},
		"a proxy without the script": {
			pageOf{head: proxied, door: 204},
			schema.VerdictBehindProxy, "status 404",
		},
		"a proxy that changes the script": {pageOf{
			head: proxied, files: map[string]string{"/stats/o.docs.js": script + ";"}, door: 204,
		}, schema.VerdictBehindProxy, "not Octavo's"},

		"a page that is not there": {pageOf{head: tag, status: 404}, schema.VerdictUnreachable, "status 404"},
		"no page": {
			pageOf{head: tag, media: "application/json"},
			schema.VerdictUnreachable, "no HTML",
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := c.page.site(t)
			h := checker(t, h)
			got := apitest.Ask[schema.InstallationCheck](h, schema.RoleAdmin, "POST", base+"/installation-check",
				map[string]any{"url": at}, 200)
			if got.Verdict != c.verdict || !strings.Contains(got.Message, c.word) || got.URL != at ||
				got.Object != "installation-check" {
				t.Errorf("%+v, want %s with %q", got, c.verdict, c.word)
			}
			known := got.KeyID == id || got.KeyID == keptID
			switch c.verdict {
			case schema.VerdictInstalled, schema.VerdictBlockedByCSP, schema.VerdictBehindProxy:
				if !known {
					t.Errorf("the key is %q", got.KeyID)
				}
			case schema.VerdictUnreachable, schema.VerdictWrongKey:
				if got.KeyID != "" {
					t.Errorf("the key is %q", got.KeyID)
				}
			}
		})
	}
}

// checker returns a harness with another node for the same data. This node has not counted any checks yet.
func checker(t *testing.T, h *apitest.Harness) *apitest.Harness {
	t.Helper()
	in := h.In(t)
	policy := outboundtest.Policy(t, outboundtest.Loopback)
	in.Serve(nil, func(_ *frame.Config, d *api.Deps) { d.Outbound = policy })
	return in
}

// TestInstallationCheckOfOneAddress: if all events of a site come from one address, the verdict is behindProxy. The
// verdict about other sites does not change.
func TestInstallationCheckOfOneAddress(t *testing.T) {
	t.Parallel()
	h := checker(t, apitest.New(t))
	_, key := h.PublishableKey(h.Ours, outboundtest.Loopback)
	at := pageOf{head: `<script src="` + octavoAt + `/o.js" data-key="` + key + `"></script>`}.site(t)
	for site, want := range map[string]string{
		h.Theirs.Site.ID: schema.VerdictInstalled, h.Ours.Site.ID: schema.VerdictBehindProxy,
	} {
		h.Intake.Hidden = map[string]bool{site: true}
		path := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/installation-check"
		got := apitest.Ask[schema.InstallationCheck](h, schema.RoleAdmin, "POST", path, map[string]any{"url": at}, 200)
		if got.Verdict != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// TestInstallationCheckIsBounded: a site can be checked only a few times at once. A check cannot load a page from an
// internal address, even by a redirect.
func TestInstallationCheckIsBounded(t *testing.T) {
	t.Parallel()
	h := checker(t, apitest.New(t))
	path := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/installation-check"
	admin := h.Ours.Tokens[schema.RoleAdmin]
	for _, address := range []string{
		"http://127.0.0.2/", "http://169.254.169.254/", "http://[::1]/", "file:///etc/passwd",
		"http://docs.example.com:22/", "https://user:word@docs.example.com/", "docs.example.com", "",
	} {
		h.WantError(h.Do("POST", path, admin, map[string]any{"url": address}), http.StatusBadRequest)
	}
	asked := false
	inner := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	_ = inner.Listener.Close()
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	inner.Listener = listener
	inner.Start()
	t.Cleanup(inner.Close)
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusFound))
	t.Cleanup(outer.Close)
	for range 5 {
		got := apitest.Ask[schema.InstallationCheck](h, schema.RoleAdmin, "POST", path,
			map[string]any{"url": outer.URL}, 200)
		if got.Verdict != schema.VerdictUnreachable || strings.Contains(got.Message, "127.0.0.2") {
			t.Errorf("%+v", got)
		}
	}
	if asked {
		t.Error("a redirect leads to an internal address")
	}
	refused := h.Do("POST", path, admin, map[string]any{"url": outer.URL})
	if h.WantError(refused, http.StatusTooManyRequests); refused.Header.Get("Retry-After") == "" {
		t.Errorf("%v", refused.Header)
	}
	other := sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID) + "/insights/installation-check"
	h.Want(http.StatusOK, "POST", other, h.Theirs.Tokens[schema.RoleAdmin], map[string]any{"url": outer.URL})
}
