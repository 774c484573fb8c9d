package embed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
)

// open returns a Client that may connect to this machine.
func open(t *testing.T) *Client {
	t.Helper()
	return New(outboundtest.Guard(t, outboundtest.Loopback))
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFind(t *testing.T) {
	t.Parallel()
	type answer struct {
		status      int
		media, body string
	}
	const utf8 = "text/html; charset=utf-8"
	answers := map[string]answer{
		"/title":    {200, utf8, "<!doctype html><html><head><title> A &amp;\n <b>page</b> </title></head><body><title>No</title>"},
		"/og":       {200, utf8, `<meta property="og:title" content="Open &quot;graph&quot;"><title>Title</title><meta name=og:site_name content=Example>`},
		"/icon":     {200, utf8, `<title>Icon</title><link rel="stylesheet" href="a.css"><link REL="shortcut ICON" href=" /static/i.png "><link rel=icon href=b.png>`},
		"/base":     {200, utf8, `<base href="https://cdn.example/x/"><title>Base</title><link rel=icon href=i.png>`},
		"/badicon":  {200, utf8, `<title>Icon</title><link rel=icon href="javascript:alert(1)">`},
		"/userinfo": {200, utf8, `<title>Icon</title><link rel=icon href="https://me:secret@a.example/i.png">`},
		"/data":     {200, utf8, `<title>Icon</title><link rel=icon href="data:image/png;base64,AAAA">`},
		"/latin":    {200, "text/html; charset=iso-8859-1", "<title>\xdcber</title>"},
		"/meta":     {200, "text/html", "<meta charset=windows-1252><title>\xdcber\x80</title>"},
		"/broken":   {200, utf8, "<title>a\xff\x00\x07b</title>"},
		"/bidi": {
			200,
			utf8,
			"<title>a\u202Egpj.exe\u202C \u2066b\u2069 \u2068\u0007\u0085\u009fc\u200f</title><meta " +
				"name=og:site_name content=\"S\u202Bx\">",
		},
		"/bidiRef": {200, utf8, "<title>a&#x202E;b&#8294;c&#7;</title>"},
		"/long":    {200, utf8, "<title>" + strings.Repeat("ä", 5000) + "</title>"},
		"/script": {
			200,
			utf8,
			"<script>" + strings.Repeat("<title>x</title>", 6000) + "</script><title>After a script</title>",
		},
		"/endless": {200, utf8, "<!--" + strings.Repeat("x", 2*maxHead) + "--><title>Too far</title>"},
		"/body":    {200, utf8, "<body><svg><title>Drawing</title></svg>"},
		"/empty":   {200, utf8, ""},
		"/text":    {200, "text/plain", "<title>Text</title>"},
		"/nothing": {200, "", "<title>Text</title>"},
		"/missing": {404, utf8, "<title>Not found</title>"},
		"/private": {302, "http://127.0.0.2:1234/", ""},
		"/moved":   {302, "/title", ""},
		"/loop":    {302, "/loop", ""},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[r.URL.Path]
		if a.status == http.StatusFound {
			http.Redirect(w, r, a.media, a.status)
			return
		}
		w.Header()["Content-Type"] = []string{a.media}
		w.WriteHeader(a.status)
		_, _ = fmt.Fprint(w, a.body)
	}))
	t.Cleanup(server.Close)
	host := Page{Title: "127.0.0.1", Site: "127.0.0.1"}
	titled := func(title string) Page { return Page{Title: title, Site: "127.0.0.1"} }
	withIcon := func(title, icon string) Page { return Page{Title: title, Site: "127.0.0.1", Icon: icon} }
	client := open(t)
	for path, want := range map[string]Page{
		"/title": titled("A & <b>page</b>"), "/og": {Title: `Open "graph"`, Site: "Example"},
		"/icon": withIcon("Icon", server.URL+"/static/i.png"), "/base": withIcon("Base", "https://cdn.example/x/i.png"),
		"/badicon": titled("Icon"), "/userinfo": titled("Icon"), "/data": titled("Icon"), "/latin": titled("Über"), "/meta": titled("Über€"),
		"/broken": titled("a\uFFFD\uFFFDb"), "/bidi": {Title: "agpj.exe b c\u200f", Site: "Sx"},
		"/bidiRef": titled("abc"), "/long": titled(strings.Repeat("ä", maxTitle-1) + "…"),
		"/script":  titled("After a script"),
		"/endless": host, "/body": host, "/empty": host, "/text": host, "/nothing": host, "/missing": host, "/private": host,
		"/moved": titled("A & <b>page</b>"), "/loop": host,
	} {
		if got := client.Find(t.Context(), parsed(t, server.URL+path)); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	for address, want := range map[string]string{
		closed.URL: "127.0.0.1", "http://127.0.0.1:22/": "127.0.0.1", "http://me:secret@127.0.0.1:9/": "127.0.0.1",
		"http://10.0.0.1/": "10.0.0.1", "http://169.254.169.254/latest/meta-data/": "169.254.169.254", "http://[::1]/": "::1",
		"http://www.a.example:22": "a.example",
	} {
		if got := client.Find(t.Context(), parsed(t, address)); got != (Page{Title: want, Site: want}) {
			t.Errorf("%s: %+v", address, got)
		}
	}
	// Without the operator's permission, the client cannot connect to this machine.
	if got := New(outbound.New(outbound.Config{})).Find(t.Context(), parsed(t, server.URL+"/title")); got != host {
		t.Errorf("%+v", got)
	}
}

// TestFindOnce checks that many callers share one look-up. A page is cached. An unreadable page is cached for a shorter
// time.
func TestFindOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	begun, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-release
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<title>Once</title>")
	}))
	t.Cleanup(server.Close)
	client := open(t)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if got := client.Find(t.Context(), parsed(t, fmt.Sprintf("%s/slow#%d", server.URL, i))); got.Title != "Once" {
				t.Errorf("%+v", got)
			}
		})
	}
	<-begun
	// While all places are taken, the title is the name of the host. This result is not cached.
	if err := client.places.Acquire(t.Context(), maxFlight-1); err != nil {
		t.Fatal(err)
	}
	if got := client.Find(t.Context(), parsed(t, server.URL+"/other")); got.Title != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
	client.places.Release(maxFlight - 1)
	close(release)
	all.Wait()
	if got := client.Find(t.Context(), parsed(t, server.URL+"/slow")); got.Title != "Once" || asked.Load() != 1 {
		t.Errorf("%+v after %d requests", got, asked.Load())
	}
	if got := client.Find(t.Context(), parsed(t, server.URL+"/other")); got.Title != "Once" {
		t.Errorf("%+v", got)
	}
	client.Find(t.Context(), parsed(t, "http://127.0.0.1:22/"))
	bad, _ := client.pages.Get("http://127.0.0.1:22/")
	good, _ := client.pages.Get(server.URL + "/slow")
	if !bad.until.Before(time.Now().Add(lifeBad+time.Second)) || !good.until.After(time.Now().Add(lifeGood/2)) {
		t.Errorf("remembered until %v and %v", bad.until, good.until)
	}
}

func FuzzReadHead(f *testing.F) {
	for _, seed := range []string{"<title>a</title>", `<meta property=og:title content="x"><link rel=icon href=//a>`, "<base href=::><link rel=icon href=x>", "<title><body>"} {
		f.Add(seed)
	}
	at := &url.URL{Scheme: "https", Host: "a.example", Path: "/b"}
	f.Fuzz(func(t *testing.T, text string) {
		page := readHead(strings.NewReader(text)).page(at)
		if len([]rune(page.Title)) > maxTitle || len([]rune(page.Site)) > maxSite || len(page.Icon) > maxIcon ||
			strings.ContainsAny(page.Title+page.Site, "\n\r\x00\x7f\u202a\u202e\u2066\u2069") {
			t.Errorf("%+v", page)
		}
		if page.Icon != "" && !strings.HasPrefix(page.Icon, "http://") && !strings.HasPrefix(page.Icon, "https://") {
			t.Errorf("icon %q", page.Icon)
		}
	})
}
