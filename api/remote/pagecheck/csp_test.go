package pagecheck

import (
	"net/url"
	"testing"
)

// TestMatching checks which sources match which targets, according to the rules of CSP 3 (§6.7.2).
func TestMatching(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page, source, target string
		want                 bool
	}{
		{"https://a.example/", "*", "https://o.example/o.js", true},
		{"https://a.example/", "*", "http://o.example/o.js", true},
		{"https://a.example/", "'none'", "https://a.example/o.js", false},
		{"https://a.example/", "'self'", "https://a.example/o.js", true},
		{"https://a.example/", "'SELF'", "https://a.example/o.js", true},
		{"https://a.example/", "'self'", "https://b.a.example/o.js", false},
		{"https://a.example/", "'self'", "https://a.example:8443/o.js", false},
		{"https://a.example/", "'self'", "http://a.example/o.js", false},
		{"http://a.example/", "'self'", "https://a.example/o.js", true},
		{"http://a.example:8080/", "'self'", "http://a.example:8080/o.js", true},
		{"https://a.example/", "'unsafe-inline'", "https://a.example/o.js", false},
		{"https://a.example/", "https:", "https://o.example/o.js", true},
		{"https://a.example/", "http:", "https://o.example/o.js", true},
		{"https://a.example/", "https:", "http://o.example/o.js", false},
		{"https://a.example/", "data:", "https://o.example/o.js", false},
		{"https://a.example/", "o.example", "https://o.example/o.js", true},
		{"https://a.example/", "O.Example", "https://o.example/o.js", true},
		{"https://a.example/", "o.example", "http://o.example/o.js", false},
		{"http://a.example/", "o.example", "https://o.example/o.js", true},
		{"https://a.example/", "o.example", "https://x.o.example/o.js", false},
		{"https://a.example/", "*.o.example", "https://x.o.example/o.js", true},
		{"https://a.example/", "*.o.example", "https://o.example/o.js", false},
		{"https://a.example/", "*.o.example", "https://xo.example/o.js", false},
		{"https://a.example/", "https://*", "https://o.example/o.js", true},
		{"https://a.example/", "https://o.example", "https://o.example/o.js", true},
		{"https://a.example/", "http://o.example", "https://o.example/o.js", true},
		{"https://a.example/", "https://o.example", "https://o.example:8443/o.js", false},
		{"https://a.example/", "https://o.example:8443", "https://o.example:8443/o.js", true},
		{"https://a.example/", "https://o.example:*", "https://o.example:8443/o.js", true},
		{"https://a.example/", "http://o.example:80", "https://o.example/o.js", true},
		{"https://a.example/", "https://o.example/", "https://o.example/o.js", true},
		{"https://a.example/", "https://o.example/e/", "https://o.example/e/k", true},
		{"https://a.example/", "https://o.example/e/", "https://o.example/o.js", false},
		{"https://a.example/", "https://o.example/o.js", "https://o.example/o.js", true},
		{"https://a.example/", "https://o.example/o.js", "https://o.example/o.js/x", false},
		{"https://a.example/", "wss://o.example", "https://o.example/o.js", false},
	} {
		page, target := address(t, c.page), address(t, c.target)
		if got := matches(c.source, page, target); got != c.want {
			t.Errorf("%s on %s allows %s: %t", c.source, c.page, c.target, got)
		}
	}
}

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestRefuses checks that the first applicable directive of a policy decides. A script can also be trusted because of a
// nonce or a hash.
func TestRefuses(t *testing.T) {
	t.Parallel()
	const o = "https://o.example"
	script := Request{Kind: Script, Target: address(t, o+"/o.js"), Nonce: "n", Integrity: "sha384-a sha384-b"}
	added := script
	added.Added, added.Nonce, added.Integrity = true, "", ""
	connect := Request{Kind: Connect, Target: address(t, o+"/e/k")}
	image := Request{Kind: Image, Target: address(t, o+"/e/k.gif")}
	for _, c := range []struct {
		policy  string
		request Request
		want    string
	}{
		{"", script, ""},
		{"img-src 'none'", script, ""},
		{"default-src 'none'", script, "default-src"},
		{"default-src 'none'; script-src " + o, script, ""},
		{"script-src " + o + "; script-src-elem 'self'", script, "script-src-elem"},
		{"SCRIPT-SRC 'self'", script, "script-src"},
		{"script-src " + o + "; script-src 'none'", script, ""},
		{"script-src", script, "script-src"},
		{"script-src 'nonce-n'", script, ""},
		{"script-src 'nonce-m'", script, "script-src"},
		{"script-src 'sha384-b' 'sha384-a'", script, ""},
		{"script-src 'sha384-a'", script, "script-src"},
		{"script-src 'strict-dynamic' 'nonce-m' " + o, script, "script-src"},
		{"script-src 'strict-dynamic' 'nonce-m'", added, ""},
		{"script-src 'self'", added, "script-src"},
		{"connect-src 'self'", connect, "connect-src"},
		{"connect-src 'self' " + o + "/e/", connect, ""},
		{"default-src 'self'", connect, "default-src"},
		{"script-src 'none'", connect, ""},
		{"default-src 'none'; img-src *", image, ""},
		{"img-src 'self'", image, "img-src"},
	} {
		refused := ""
		for _, p := range parsePolicies(c.policy, "header") {
			refused = p.Refuses(address(t, "https://a.example/"), c.request)
		}
		if refused != c.want {
			t.Errorf("%q: %q refuses %s, want %q", c.policy, refused, c.request.Target, c.want)
		}
	}
}

// TestReadPage checks that the elements and the policies of a page are read in their order.
func TestReadPage(t *testing.T) {
	t.Parallel()
	p := readPage(address(t, "https://a.example/b/c"), `<!doctype html><html><head>
		<script src="first.js"></script>
		<meta HTTP-EQUIV="content-security-policy" CONTENT="script-src 'self'; connect-src 'self', img-src 'none'">
		<base href="/d/"><base href="/never/">
		<script data-key='k&amp;l' src=second.js data-key="other"></script><script>let x = "<img src=y>"</script>
		<!-- <script src="commented.js"></script> --></head>
		<body><img src="i.gif"><img><meta http-equiv="Content-Security-Policy" content="img-src 'self'">
		<script src="javascript:void 0"></script></body></html>`)
	if len(p.Scripts) != 4 || len(p.Images) != 2 || len(p.meta) != 2 || p.meta[0].scripts != 1 {
		t.Fatalf("%d scripts, %d images, %d policies: %+v", len(p.Scripts), len(p.Images), len(p.meta), p)
	}
	if got := p.Scripts[0].Address.String(); got != "https://a.example/b/first.js" {
		t.Errorf("the first script is %s", got)
	}
	if s := p.Scripts[1]; s.Address.String() != "https://a.example/d/second.js" || s.Attributes["data-key"] != "k&l" {
		t.Errorf("the second script is %+v", s)
	}
	if s := p.Scripts[2]; s.Address != nil || s.Text != `let x = "<img src=y>"` {
		t.Errorf("the third script is %+v", s)
	}
	if p.Scripts[3].Address != nil || p.Images[1].Address != nil || p.Images[0].Address.Path != "/d/i.gif" {
		t.Errorf("%+v, %+v", p.Scripts[3], p.Images)
	}
	for script, want := range map[int]bool{0: false, 1: true} {
		request := Request{Kind: Script, Target: address(t, "https://o.example/o.js")}
		if _, refused := p.Refuses(script, request); refused != want {
			t.Errorf("script %d is refused: %t", script, refused)
		}
	}
	if refused, found := p.Refuses(0, Request{Kind: Connect, Target: address(t, "https://o.example/e/k")}); !found ||
		refused != (Refused{"connect-src", "meta element"}) {
		t.Errorf("%+v", refused)
	}
}
