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
		"": true, "/a": true, "a.md#b": true, "#b": true, "?q=a:b": true, "a/b:c": true, "http://a.example": true,
		"HTTPS://a.example": true, "mailto:a@b.example": true, "tel:+49": true,
		"javascript:alert(1)": false, "JavaScript:x": false, " javascript:x": false, "java\nscript:x": false, "\x01javascript:x": false,
		"data:text/html,x": false, "vbscript:x": false, "file:///etc/passwd": false, "blob:x": false, "ref:page/p": false,
		"a//b": true, "/a//b": true, "#//b": true, "?//b": true, "R&D.md": true, "R&amp;D.md": true,
		"/a?b&colon;c":                 true,
		"https://a.example//b&colon;c": true, `\a`: true, "./:b": true, "&#104;ttps://a.example": true,
		"//host/a": false, "///host": false, `\\host`: false, `/\host`: false, `\/host`: false, " //host": false,
		"\t//host": false, "/\t/host": false, "/\n\\host": false, "\x01//host": false, "//": false, "/\r/": false,
		"javascript&colon;x": false, "javascript&#58;x": false, "javascript&#x3a;x": false, "&#106;avascript:x": false,
		"java&Tab;script:x": false, "java&NewLine;script&colon;x": false, "javascript&amp;colon;x": false,
		"&sol;&sol;host": false, "/&sol;host": false, "&bsol;/host": false, "&Tab;//host": false,
		"&amp;sol;/host": false,
	} {
		if LinkAllowed(link) != allowed {
			t.Errorf("%q: allowed is %t", link, !allowed)
		}
	}
}

// TestShownLink checks that an address with a host and no scheme gets a scheme. Any other link that is not allowed must
// lose its target.
func TestShownLink(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"": "", "a": "a", "/a": "/a", "tel:1": "tel:1", "https://a.example": "https://a.example",
		"//a.example/b?c#d": "https://a.example/b?c#d", "//a.example": "https://a.example",
		"//": "", "///a.example": "", `/\a.example`: "", `\\a.example`: "", "/\t/a.example": "", " //a.example": "",
		"&sol;/a.example": "", "javascript&colon;x": "", "javascript:x": "", `//\a.example`: "",
	} {
		if got := ShownLink(link); got != want || !LinkAllowed(got) {
			t.Errorf("%q is shown as %q, want %q", link, got, want)
		}
	}
}

func TestLinkHasLogin(t *testing.T) {
	t.Parallel()
	for link, has := range map[string]bool{
		"https://a:b@c.example": true, "HTTP://a@c.example/": true, "https://@c.example": true,
		" https://a:b@c.example":  true,
		"ht\ttps://a:b@c.example": true, `https:\\a:b@c.example`: true, "https:a:b@c.example": true,
		"https:/a@c.example":   true,
		"https:///a@c.example": true, "https://a%zz@c.example": true,
		"https://c.example/a@b": false, "https://c.example?a@b": false, "https://c.example#a@b": false,
		"mailto:a@b.example": false,
		"tel:a@b":            false, "/a@b": false, "a@b": false, "httpx://a@b": false, "": false,
	} {
		if LinkHasLogin(link) != has {
			t.Errorf("%q: a login is %t", link, !has)
		}
	}
}

// TestLinksOfDocuments uses each place of a document that can have a link. If a request has a link that is not allowed,
// it is refused. If such a link is already stored, responses do not show it.
func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"javascript:alert(1)", "javascript&colon;alert(1)", "//evil.example/a", `/\evil.example`, `\\evil.example`,
		"/\t/evil.example",
	} {
		t.Run(bad, func(t *testing.T) { linksOfDocuments(t, bad) })
	}
}

func linksOfDocuments(t *testing.T, bad string) {
	t.Helper()
	t.Parallel()
	shown := ShownLink(bad)
	quoted, err := json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := json.Unmarshal([]byte(`{"nodes":[`+strings.ReplaceAll(c.node, `"javascript:alert(1)"`,
			string(quoted))+`]}`), &d); err != nil {
			t.Fatal(err)
		}
		d.Normalize()
		problems := d.Problems("d")
		if len(problems) != 1 || problems[0].Field != c.field || problems[0].Problem != ProblemLink {
			t.Errorf("%s: %+v", name, problems)
		}
		if answer := string(encode(t, d)); !strings.Contains(answer, `"url":"`+shown+`"`) ||
			strings.Contains(answer, string(quoted)) {
			t.Errorf("%s is shown: %s", name, answer)
		}
	}
	table := Data{"records": map[string]any{"r": map[string]any{"values": map[string]any{"c": map[string]any{"kind": "url", "url": bad}}}},
		"list": []any{1.0, map[string]any{"kind": "url", "url": bad}}, "own": map[string]any{"url": "x:y"}}
	if got, want := string(encode(t, table)),
		`{"list":[1,{"kind":"url","url":"`+shown+`"}],"own":{"url":"x:y"},`+
			`"records":{"r":{"values":{"c":{"kind":"url","url":"`+shown+`"}}}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if table["list"].([]any)[1].(map[string]any)["url"] != bad {
		t.Error("the stored document has changed")
	}
	if got := string(encode(t, ContentRef{"kind": "url", "url": bad})); got != `{"kind":"url","url":"`+shown+`"}` {
		t.Error(got)
	}
}

// TestLinkPattern checks that LinkPattern and LinkNot agree with LinkAllowed.
func TestLinkPattern(t *testing.T) {
	t.Parallel()
	pattern, not := regexp.MustCompile(LinkPattern), regexp.MustCompile(LinkNot)
	for _, start := range []string{
		"", "http", "HTTPS", "mailto", "tel", "javascript", "data", "htt", "httpx", " http", "h\tttp", "java\nscript",
		"é", "a b", "\x00", "/", "\\", " /", "/\t",
	} {
		for _, rest := range []string{"", ":", ":x", "/", "/:", "?a:b", "#a:b", "//a:b", " :x", "x:y", "\\", "\n/a"} {
			if link := start + rest; (pattern.MatchString(link) && !not.MatchString(link)) != LinkAllowed(link) {
				t.Errorf("%q: the pattern says %t", link, !LinkAllowed(link))
			}
		}
	}
}
