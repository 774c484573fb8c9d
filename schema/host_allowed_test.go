package schema

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHostAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hosts, host string
		want        bool
	}{
		{"docs.example.com", "docs.example.com", true},
		{"docs.example.com", "DOCS.Example.COM", true},
		{"docs.example.com", "docs.example.com:8443", true},
		{"docs.example.com", "docs.example.com.", true},
		{"docs.example.com", "docs.example.com.:443", true},
		{"docs.example.com", "docs.example.com..", false},
		{"docs.example.com", "www.docs.example.com", false},
		{"docs.example.com", "docs.example.com.evil.example", false},
		{"docs.example.com", "evildocs.example.com", false},
		{"docs.example.com", "docs-example.com", false},
		{"docs.example.com", "docs\u2024example.com", false}, // U+2024 looks like a dot
		{"docs.example.com", "doc\u017f.example.com", false}, // Unicode folds the long s to s
		{"book.example.com", "boo\u212a.example.com", false}, // Unicode folds the Kelvin sign to k
		{"docs.example.com", "", false},
		{"docs.example.com", ".", false},
		{"docs.example.com", ":443", false},
		{"", "docs.example.com", false},
		{"*.example.com", "docs.example.com", true},
		{"*.example.com", "a.b.Example.com.:80", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "evilexample.com", false},
		{"*.example.com", "docs.example.com.evil.example", false},
		{"*.example.com", "docs.example.org", false},
		{"a.example b.example *.c.example", "b.example", true},
		{"a.example b.example *.c.example", "x.c.example", true},
		{"a.example b.example *.c.example", "c.example", false},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", true},
		{"xn--bcher-kva.example", "XN--BCHER-KVA.example", true},
		{"xn--bcher-kva.example", "b\u00fccher.example", false}, // browsers never send this form
		{"localhost", "localhost:3000", true},
		{"127.0.0.1", "127.0.0.1:3000", true},
		{"127.0.0.1", "[::1]:3000", false},
	} {
		if got := HostAllowed(strings.Fields(c.hosts), c.host); got != c.want {
			t.Errorf("%q in %q: %t", c.host, c.hosts, got)
		}
	}
}

func TestHostOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://docs.example.com/a?b#c":                    "docs.example.com",
		"https://docs.example.com":                          "docs.example.com",
		"https://docs.example.com:8443/a":                   "docs.example.com:8443",
		"https://docs.example.com@evil.example/":            "evil.example",
		"https://docs.example.com:x@evil.example:80/":       "evil.example:80",
		"https://a@docs.example.com@evil.example":           "evil.example",
		`https://evil.example\@docs.example.com/`:           "evil.example",
		"https://evil.example?@docs.example.com/":           "evil.example",
		"https://evil.example#@docs.example.com/":           "evil.example",
		"https://[2001:db8::1]:80/":                         "[2001:db8::1]:80",
		"//docs.example.com/a":                              "",
		"docs.example.com":                                  "",
		"null":                                              "",
		"":                                                  "",
		"about:blank":                                       "",
		"capacitor://localhost":                             "localhost",
		"https://evil.example/?to=https://docs.example.com": "evil.example",
	} {
		if got := HostOf(text); got != want {
			t.Errorf("%q has the host %q, want %q", text, got, want)
		}
	}
}

func TestCanonicalHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"docs.example.com": "docs.example.com", "DOCS.Example.com": "docs.example.com", "localhost": "localhost",
		"*.example.com": "*.example.com", "*.Docs.example.com": "*.docs.example.com", "127.0.0.1": "127.0.0.1",
		"xn--bcher-kva.example": "xn--bcher-kva.example", "my_docs.example.com": "my_docs.example.com",
		"*": "", "*.": "", "*.com": "", "*.*.example.com": "", "docs.*.example.com": "", "*docs.example.com": "", "": "",
		"docs.example.com.": "", ".example.com": "", "docs..example.com": "", "docs.example.com:443": "",
		"https://docs.example.com": "", "docs.example.com/a": "", "a@docs.example.com": "", "b\u00fccher.example": "",
		"-docs.example.com": "", "docs-.example.com": "", "docs example.com": "", "[::1]": "", "docs.example.com\n": "",
		"boo\u212a.example": "", strings.Repeat("a", 64) + ".example": "", strings.Repeat("a.", 127) + "a": "",
		strings.Repeat("a.", 126) + "a": strings.Repeat("a.", 126) + "a",
	} {
		if got := CanonicalHost(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestHostsOfURLs generates random addresses. If the standard library can parse an address, HostOf must return the host
// that the library finds.
func TestHostsOfURLs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`https?://([a-zA-Z]{1,3}(:[a-z]{0,2})?@)?`+
			`[a-cA-C.-]{1,6}(:[0-9]{1,3})?([/?#][a-z@:/?#.]{0,6})?`).Draw(t, "url")
		u, err := url.Parse(text)
		if err != nil {
			t.Skip(err)
		}
		if got := HostOf(text); got != u.Host {
			t.Fatalf("%q has the host %q, want %q", text, got, u.Host)
		}
		name := CanonicalHost(u.Hostname())
		if name != "" && !HostAllowed([]string{name}, HostOf(text)) {
			t.Fatalf("%q is not allowed by its own host %q", text, name)
		}
		if name != "" && HostAllowed([]string{"*." + name}, HostOf(text)) {
			t.Fatalf("%q is below itself", text)
		}
	})
}

// TestHostsTakeNoMemory is not parallel, because it counts allocations.
func TestHostsTakeNoMemory(t *testing.T) {
	hosts := []string{"a.example", "*.docs.example.com"}
	if n := testing.AllocsPerRun(100, func() {
		if !HostAllowed(hosts, HostOf("https://API.Docs.example.com:443/a")) {
			t.Error("not allowed")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
