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
