package frame

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

func TestClientIP(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, test := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		// If a front end's request has another client address, this address follows after a slash.
		{"203.0.113.9", nil, "203.0.113.9"},
		{"203.0.113.9", []string{"1.1.1.1"}, "203.0.113.9/1.1.1.1"},
		{"203.0.113.9", []string{"6.6.6.6, 1.1.1.1"}, "203.0.113.9/1.1.1.1"},
		{"203.0.113.9", []string{"6.6.6.6", "10.1.1.1"}, "203.0.113.9/6.6.6.6"},
		{"203.0.113.9", []string{"junk"}, "203.0.113.9"},
		{"10.1.1.1", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9/1.1.1.1"},
		{"10.1.1.1", []string{"6.6.6.6, 1.1.1.1, 203.0.113.9, 10.2.2.2"}, "203.0.113.9/1.1.1.1"},
		{"10.1.1.1", nil, "10.1.1.1"},
		{"10.1.1.1", []string{"1.1.1.1"}, "1.1.1.1"},
		{"::ffff:10.1.1.1", []string{"::ffff:1.1.1.1"}, "1.1.1.1"},
		{"10.1.1.1", []string{"6.6.6.6, 1.1.1.1"}, "1.1.1.1/6.6.6.6"},
		{"10.1.1.1", []string{"6.6.6.6, 1.1.1.1, 10.2.2.2"}, "1.1.1.1/6.6.6.6"},
		{"10.1.1.1", []string{"6.6.6.6, 1.1.1.1", "10.2.2.2"}, "1.1.1.1/6.6.6.6"},
		{"fd00::1", []string{"2001:db8::5 ,fd00::2"}, "2001:db8::5"},
		{"10.1.1.1", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"10.1.1.1", []string{"junk"}, "10.1.1.1"},
		{"10.1.1.1", []string{"1.1.1.1, junk, 10.2.2.2"}, "10.2.2.2"},
		{"10.1.1.1", []string{""}, "10.1.1.1"},
	} {
		ctx := &fasthttp.RequestCtx{}
		ctx.Init(&fasthttp.Request{}, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(test.peer), 1)), nil)
		for _, line := range test.forwarded {
			ctx.Request.Header.Add("X-Forwarded-For", line)
		}
		want, frontEnd, other := strings.Cut(test.want, "/")
		got, believed := clientIP(ctx, trusted, false)
		if got != netip.MustParseAddr(want) || believed != access.Trusted(netip.MustParseAddr(test.peer).Unmap(), trusted) {
			t.Errorf("%+v: %s, trusted %v", test, got, believed)
		}
		if !other {
			frontEnd = want
		}
		if got, _ := clientIP(ctx, trusted, true); got != netip.MustParseAddr(frontEnd) {
			t.Errorf("%+v: %s for a front end", test, got)
		}
	}
}

// TestErrorsAlwaysEncode: an error can be encoded even if it quotes invalid UTF-8 from a request.
func TestErrorsAlwaysEncode(t *testing.T) {
	t.Parallel()
	ctx := &fasthttp.RequestCtx{}
	ctx.Response.AppendBodyString("half an answer")
	writeError(ctx, schema.Invalid("a\xffb", "is <odd>"))
	want := `{"error":{"code":400,"message":"a\ufffdb is <odd>","details":[{"field":"a\ufffdb","problem":"is <odd>"}]}}`
	if got := string(ctx.Response.Body()); got != strings.ReplaceAll(want, `\ufffd`, "\ufffd") {
		t.Errorf("%s", got)
	}
}

func TestFilesAreNamedWithoutFolders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"../../etc/passwd": "passwd", `..\..\boot.ini`: "boot.ini", "a.png": "a.png", "..": "file", "/": "file", "": "file", "a/": "a",
	} {
		if got := baseName(name); got != want {
			t.Errorf("%q becomes %q", name, got)
		}
	}
}

// TestRefusalLogIsBounded: the number of log lines per second is limited for each operation, and in total.
func TestRefusalLogIsBounded(t *testing.T) {
	t.Parallel()
	l, now := newRefusalLog(), time.Unix(1000, 0)
	lines := 0
	for i := range 5000 {
		if l.take("op", 401, now.Add(time.Duration(i)*time.Millisecond)) {
			lines++
		}
	}
	if lines != 5*refusalLines {
		t.Errorf("%d lines in 5 s", lines)
	}
	if n := l.of[refusalKind{"op", 401}].suppressed; n != 5000-lines {
		t.Errorf("%d suppressed", n)
	}
	all := 0
	for i := range 1000 {
		if l.take(fmt.Sprint(i), 401, now.Add(time.Hour)) {
			all++
		}
	}
	if all != allRefusalLines {
		t.Errorf("%d lines of many operations", all)
	}
}
