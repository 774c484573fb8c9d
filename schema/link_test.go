package schema

import (
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for link, allowed := range map[string]bool{
		"": true, "/a": true, "a.md#b": true, "#b": true, "?q=a:b": true, "//host/a": true, "a/b:c": true, "http://a.example": true,
		"HTTPS://a.example": true, "mailto:a@b.example": true, "tel:+49": true,
		"javascript:alert(1)": false, "JavaScript:x": false, " javascript:x": false, "java\nscript:x": false, "\x01javascript:x": false,
		"data:text/html,x": false, "vbscript:x": false, "file:///etc/passwd": false, "blob:x": false, "ref:page/p": false,
	} {
		if LinkAllowed(link) != allowed {
			t.Errorf("%q: allowed is %t", link, !allowed)
		}
	}
}

// TestLinksOfDocuments covers each place of a document that holds a link. A link that is not allowed is refused in a request,
// and hidden in an answer if it is stored.
func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	const bad = `javascript:alert(1)`
	for name, c := range map[string]struct{ node, field string }{
		"link":        {`{"type":"paragraph","nodes":[{"type":"link","data":{"ref":{"kind":"url","url":"javascript:alert(1)"}}}]}`, "d.nodes[0].nodes[0].data.ref.url"},
		"mention":     {`{"type":"paragraph","nodes":[{"type":"mention","data":{"ref":{"kind":"url","url":"javascript:alert(1)"}}}]}`, "d.nodes[0].nodes[0].data.ref.url"},
		"button":      {`{"type":"paragraph","nodes":[{"type":"button","data":{"label":"a","kind":"primary","ref":{"kind":"url","url":"javascript:alert(1)"}}}]}`, "d.nodes[0].nodes[0].data.ref.url"},
		"image":       {`{"type":"images","nodes":[{"type":"image","data":{"ref":{"kind":"url","url":"javascript:alert(1)"}}}]}`, "d.nodes[0].nodes[0].data.ref.url"},
		"content-ref": {`{"type":"content-ref","data":{"ref":{"kind":"url","url":"javascript:alert(1)"}}}`, "d.nodes[0].data.ref.url"},
		"embed":       {`{"type":"embed","data":{"url":"javascript:alert(1)"}}`, "d.nodes[0].data.url"},
		"integration": {`{"type":"integration","data":{"integration":"a","block":"b","props":{},"url":"javascript:alert(1)"}}`, "d.nodes[0].data.url"},
	} {
		var d Document
		if err := json.Unmarshal([]byte(`{"nodes":[`+c.node+`]}`), &d); err != nil {
			t.Fatal(err)
		}
		d.Normalize()
		problems := d.Problems("d")
		if len(problems) != 1 || problems[0].Field != c.field || problems[0].Problem != ProblemLink {
			t.Errorf("%s: %+v", name, problems)
		}
		if shown := string(encode(t, d)); shown == "" || strings.Contains(shown, bad) {
			t.Errorf("%s is shown: %s", name, shown)
		}
	}
	table := Data{"records": map[string]any{"r": map[string]any{"values": map[string]any{"c": map[string]any{"kind": "url", "url": bad}}}},
		"list": []any{1.0, map[string]any{"kind": "url", "url": bad}}, "own": map[string]any{"url": "x:y"}}
	if got, want := string(encode(t, table)),
		`{"list":[1,{"kind":"url","url":""}],"own":{"url":"x:y"},"records":{"r":{"values":{"c":{"kind":"url","url":""}}}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if table["list"].([]any)[1].(map[string]any)["url"] != bad {
		t.Error("the stored document has changed")
	}
	if got := string(encode(t, ContentRef{"kind": "url", "url": bad})); got != `{"kind":"url","url":""}` {
		t.Error(got)
	}
}

func TestPublicAddress(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"https://github.com/a/b": true, "http://git.example:8080": true, "https://8.8.8.8": true, "https://[2a00:1450::1]/a": true,
		"https://1.example": true, "https://internal.example": true, "https://x0x.example": true,
		"https://localhost": false, "https://a.LOCALHOST.": false, "http://metadata.google.internal": false, "http://a.local": false,
		"http://metadata": false, "http://127.0.0.1": false, "http://127.0.0.1.": false, "http://127.1": false, "http://0x7f.1": false, "http://0177.0.0.1": false,
		"http://2130706433": false, "http://0x7f000001": false, "http://017700000001": false, "http://0": false, "http://0x.1": false, "http://10.0.0.1": false,
		"http://172.16.0.1": false, "http://192.168.1": false, "http://169.254.169.254": false, "http://0xA9FEA9FE": false, "http://100.64.0.1": false,
		"http://192.0.0.1": false, "http://198.18.0.1": false, "http://224.0.0.1": false, "http://255.255.255.255": false, "http://256.1.1.1": false,
		"http://1.2.3.4.5": false, "http://[::1]": false, "http://[::]": false, "http://[::ffff:127.0.0.1]": false, "http://[::ffff:a9fe:a9fe]": false,
		"http://[fe80::1%25eth0]": false, "http://[fd00::1]": false, "http://[64:ff9b::7f00:1]": false, "http://[::127.0.0.1]": false,
		"http://①②⑦.0.0.1": false, "http://ｌocalhost": false, "http://": false, "http://0x7f.0.0.0x1": false, "http://me:pass@127.0.0.1": false, "http://127.0.0.1%2f": false,
	} {
		if PublicAddress(address) != public {
			t.Errorf("%q: public is %t", address, !public)
		}
	}
}

// TestLinkPattern compares the regular expression with the check.
func TestLinkPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(LinkPattern)
	for _, start := range []string{"", "http", "HTTPS", "mailto", "tel", "javascript", "data", "htt", "httpx", " http", "h\tttp", "java\nscript", "é", "a b", "\x00"} {
		for _, rest := range []string{"", ":", ":x", "/", "/:", "?a:b", "#a:b", "//a:b", " :x", "x:y"} {
			if link := start + rest; pattern.MatchString(link) != LinkAllowed(link) {
				t.Errorf("%q: the pattern says %t", link, !LinkAllowed(link))
			}
		}
	}
}
