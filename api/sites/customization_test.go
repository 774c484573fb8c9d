package sites_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var (
	color       = shape.Text(4, 7)
	themedColor = shape.Object(shape.Of{"light": color, "dark": color})
	themedURL   = shape.Object(shape.Of{"light": shape.Text(1, 2048), "dark": shape.Text(1, 2048)})
	themedCode  = shape.Object(shape.Of{"light": shape.Text(3, 40), "dark": shape.Text(3, 40)})
	localized   = shape.Object(shape.Of{"fr?": shape.String, "de?": shape.String, "zh-tw?": shape.String})
	contentRef  = shape.Object(shape.Of{"kind": shape.Text(1, 20), "url?": shape.String, "space?": shape.String, "page?": shape.String, "file?": shape.String, "spec?": shape.String})
	contentLink = shape.Object(shape.Of{"title": shape.Text(0, 64), "localizedTitle?": localized, "to": contentRef})

	fontDefinition = shape.Object(shape.Of{"id": shape.String, "custom": shape.Boolean, "fontFamily": shape.Text(1, 50),
		"fontFaces": shape.List(shape.Object(shape.Of{"weight": shape.Count, "sources": shape.List(shape.Object(shape.Of{"url": shape.Text(1, 2048), "format?": shape.One("woff2", "woff")}))}))})

	customizationShape = shape.Of{
		"title?": shape.Text(2, 128),
		"styling": shape.Object(shape.Of{
			"theme": shape.One("clean", "muted", "bold", "gradient"), "primaryColor": themedColor, "infoColor": themedColor,
			"successColor": themedColor, "warningColor": themedColor, "dangerColor": themedColor, "tint?": shape.Object(shape.Of{"color": themedColor}),
			"corners": shape.One("straight", "rounded", "circular"), "depth": shape.One("subtle", "flat"), "links": shape.One("default", "accent"),
			"font": shape.Either(shape.String, fontDefinition), "monospaceFont": shape.Either(shape.String, fontDefinition), "background": shape.One("plain", "match"),
			"icons":        shape.One("regular", "solid", "duotone", "light", "thin"),
			"sidebar":      shape.Object(shape.Of{"background": shape.One("default", "filled"), "list": shape.One("default", "pill", "line")}),
			"search":       shape.One("prominent", "subtle"),
			"headingFont?": shape.Either(shape.String, fontDefinition), "codeTheme": shape.Object(shape.Of{"default": themedCode, "openapi": themedCode}),
		}),
		"internationalization": shape.Object(shape.Of{"locale": shape.Text(2, 5)}),
		"favicon":              shape.Either(shape.Object(shape.Of{"icon": themedURL}), shape.Object(shape.Of{"emoji": shape.Text(1, 50)}), shape.Object(shape.Of{})),
		"header": shape.Object(shape.Of{
			"preset": shape.One("default", "bold", "contrast", "custom", "none"), "logo?": themedURL, "backgroundColor?": themedColor,
			"linkColor?": themedColor, "primaryLink?": contentRef,
			"links": shape.List(shape.Object(shape.Of{"title": shape.String, "localizedTitle?": localized, "style?": shape.One("link", "button-primary", "button-secondary"),
				"to": shape.Either(contentRef, shape.One(nil)), "links": shape.List(contentLink), "condition?": shape.Text(0, 1024)})),
		}),
		"footer": shape.Object(shape.Of{"logo?": themedURL, "copyright?": shape.Text(0, 300),
			"groups": shape.List(shape.Object(shape.Of{"title": shape.String, "localizedTitle?": localized, "links": shape.List(contentLink)}))}),
		"announcement?": shape.Object(shape.Of{"enabled": shape.Boolean, "message": shape.Text(2, 128), "localizedMessage?": localized, "link?": contentLink,
			"style": shape.One("info", "warning", "danger", "success")}),
		"themes": shape.Object(shape.Of{"default": shape.One("light", "dark"), "toggeable": shape.Boolean}),
		"pdf":    shape.Booleans("enabled"), "feedback": shape.Booleans("enabled"), "advancedCustomization": shape.Booleans("enabled"),
		"ai": shape.Object(shape.Of{"mode": shape.One("none", "search", "assistant"), "suggestions?": shape.List(shape.Text(3, 64)),
			"greeting?": shape.Text(0, 256), "localizedGreeting?": localized, "instructions?": shape.Text(0, 10000)}),
		"git": shape.Booleans("showEditLink"), "pageActions": shape.Object(shape.Of{"externalAI": shape.Boolean, "markdown": shape.Boolean, "mcp": shape.Boolean,
			"items": shape.List(shape.One("assistant", "external-ai", "markdown", "mcp", "git", "pdf"))}),
		"externalLinks": shape.Object(shape.Of{"target": shape.One("self", "blank")}),
		"pagination":    shape.Booleans("enabled"), "trademark": shape.Booleans("enabled"),
		"privacyPolicy": shape.Object(shape.Of{"url?": shape.Text(1, 2048)}), "socialPreview": shape.Object(shape.Of{"url?": shape.Text(1, 2048)}),
		"insights": shape.Booleans("trackingCookie"), "localizedTitle?": localized,
		"socialAccounts": shape.List(shape.Object(shape.Of{"platform": shape.Text(3, 20), "handle": shape.Text(1, 128), "display": shape.Booleans("footer header")})),
	}
)

const fullCustomization = `{
	"title":"Docs","styling":{"theme":"bold","primaryColor":{"light":"#0af","dark":"#00aaff"},"tint":{"color":{"light":"#fff","dark":"#000"}},
		"corners":"circular","depth":"flat","links":"accent","font":{"id":"f1","fontFamily":"Mine","fontFaces":[
			{"weight":400,"sources":[{"url":"https://cdn.example/f.woff2","format":"woff2"}]}]},
		"monospaceFont":"DMMono","icons":"thin","sidebar":{"list":"pill"},"search":"subtle"},
	"favicon":{"icon":{"light":"https://a.example/l.png","dark":"https://a.example/d.png"}},
	"header":{"logo":{"light":"https://a.example/l.png","dark":"https://a.example/d.png"},"primaryLink":{"kind":"url","url":"https://a.example"},
		"links":[{"title":"Guides","links":[{"title":"One","to":{"kind":"space","space":"s1"}}],"condition":"visitor.claims.ok"},
			{"title":"Buy","style":"button-primary","to":{"kind":"page","page":"p1","space":null},"links":null}]},
	"footer":{"groups":[{"title":"More","links":[{"title":"File","to":{"kind":"file","file":"f","space":"s"}}]}],"copyright":"© us"},
	"announcement":{"message":"New!","link":{"title":"See","to":{"kind":"url","url":"https://a.example"}}},
	"themes":{"default":"dark"},"ai":{"mode":"assistant","suggestions":["How?"]},"advancedCustomization":{"enabled":true},
	"privacyPolicy":{"url":"https://a.example/privacy"},"insights":{"trackingCookie":false},"unknown":{"ignored":1},"pdf":null}`

func TestSiteCustomization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/customization"
	fresh := shape.Want(t, customizationShape, h.Do("GET", path, admin, nil).Body)
	if _, there := fresh["title"]; there || fresh["styling"].(map[string]any)["theme"] != "clean" {
		t.Errorf("%v", fresh)
	}
	full := h.Do("PUT", path, admin, fullCustomization)
	got := shape.Want(t, customizationShape, full.Body)
	var sent map[string]any
	if err := json.Unmarshal([]byte(fullCustomization), &sent); err != nil {
		t.Fatal(err)
	}
	// The answer has the sent values. For each member that was not sent, it has the default, also inside objects that
	// were sent.
	sent["styling"].(map[string]any)["font"].(map[string]any)["custom"] = true
	sent["announcement"].(map[string]any)["enabled"] = true
	sent["announcement"].(map[string]any)["style"] = "info"
	header := sent["header"].(map[string]any)["links"].([]any)
	header[0].(map[string]any)["to"] = nil
	header[1].(map[string]any)["links"] = []any{}
	header[1].(map[string]any)["to"] = map[string]any{"kind": "page", "page": "p1"}
	delete(sent, "unknown")
	delete(sent, "pdf")
	if diff := cmp.Diff(over(fresh, sent, leafNames), got); diff != "" || full.Status != 200 {
		t.Errorf("%d %s", full.Status, diff)
	}
	for _, query := range []string{"", "?unmasked=true"} {
		if diff := cmp.Diff(got, shape.Want(t, customizationShape, h.Do("GET", path+query, admin, nil).Body)); diff != "" {
			t.Errorf("read: %s", diff)
		}
	}
	// The next PUT replaces all settings.
	if diff := cmp.Diff(fresh, shape.Want(t, customizationShape, h.Do("PUT", path, admin, `{"favicon":{}}`).Body)); diff != "" {
		t.Error(diff)
	}
	// A client may send an answer back unchanged.
	h.Do("PUT", path, admin, full.Body)
	if diff := cmp.Diff(got, shape.Want(t, customizationShape, h.Do("GET", path, admin, nil).Body)); diff != "" {
		t.Error(diff)
	}
}

// leafNames are the members whose values are replaced as a whole, although they are objects.
var leafNames = map[string]bool{
	"primaryColor": true, "tint": true, "font": true, "monospaceFont": true, "favicon": true, "logo": true, "announcement": true, "primaryLink": true,
}

// over returns a copy of `base` with the values of `patch`. It merges objects, except the members in `leaves`, which it
// replaces. It does not use the types under test.
func over(base, patch map[string]any, leaves map[string]bool) map[string]any {
	merged := map[string]any{}
	for name, value := range base {
		merged[name] = value
	}
	for name, value := range patch {
		inner, ok := value.(map[string]any)
		if old, _ := base[name].(map[string]any); ok && old != nil && !leaves[name] {
			value = over(old, inner, leaves)
		}
		merged[name] = value
	}
	return merged
}

func TestSiteSpaceCustomization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	path := site + "/site-spaces/" + h.SiteSpace(h.Ours) + "/customization"
	read := func() map[string]any { return shape.Want(t, customizationShape, h.Do("GET", path, admin, nil).Body) }
	h.Do("PUT", site+"/customization", admin, `{"favicon":{"emoji":"📘"},"title":"Site","styling":{"theme":"bold","corners":"circular"}}`)
	inherited := read()
	for _, step := range []struct{ patch, title, theme, corners, pdf string }{
		{`{}`, "Site", "bold", "circular", "true"},
		{`{"title":"Here","styling":{"theme":"muted"},"pdf":{"enabled":false}}`, "Here", "muted", "circular", "false"},
		{`{"styling":{"corners":"straight"}}`, "Here", "muted", "straight", "false"},
		{`{"title":null,"pdf":{"enabled":null}}`, "Site", "muted", "straight", "true"},
		{`{"styling":{"theme":null}}`, "Site", "bold", "straight", "true"},
		{`{"styling":null}`, "Site", "bold", "circular", "true"},
	} {
		a := h.Do("PATCH", path, admin, step.patch)
		got := shape.Want(t, customizationShape, a.Body)
		styling := got["styling"].(map[string]any)
		pdf, _ := json.Marshal(got["pdf"].(map[string]any)["enabled"])
		if a.Status != 200 || got["title"] != step.title || styling["theme"] != step.theme || styling["corners"] != step.corners || string(pdf) != step.pdf {
			t.Errorf("%s: %d %s", step.patch, a.Status, a.Body)
		}
		if diff := cmp.Diff(got, read()); diff != "" {
			t.Errorf("%s: read: %s", step.patch, diff)
		}
	}
	// DELETE removes all overrides together, and may be repeated. The site's own settings stay.
	h.Do("PATCH", path, admin, `{"title":"Here","favicon":{},"header":{"links":[]},"announcement":{"enabled":false,"message":"Hi","style":"info"}}`)
	for range 2 {
		if a := h.Do("DELETE", path, admin, nil); a.Status != http.StatusNoContent {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if diff := cmp.Diff(inherited, read()); diff != "" {
		t.Error(diff)
	}
	// A change of the site's settings applies to the site space, except for settings that the site space overrides.
	h.Do("PATCH", path, admin, `{"styling":{"theme":"gradient"}}`)
	h.Do("PUT", site+"/customization", admin, `{"favicon":{},"title":"Other","styling":{"theme":"bold","depth":"flat"}}`)
	if got := read(); got["title"] != "Other" || got["styling"].(map[string]any)["theme"] != "gradient" || got["styling"].(map[string]any)["depth"] != "flat" {
		t.Errorf("%v", got)
	}
	// A site space of another site can be neither found nor changed through this site.
	local := "/site-spaces/" + h.SiteSpace(h.Theirs) + "/customization"
	foreign, theirs := site+local, "/v1/orgs/"+h.Theirs.Organization.ID+"/sites/"+h.Theirs.Site.ID+local
	kept := h.Do("PATCH", theirs, h.Theirs.Tokens[schema.RoleAdmin], `{"title":"Theirs"}`)
	h.WantError(h.Do("GET", foreign, admin, nil), http.StatusNotFound)
	h.WantError(h.Do("PATCH", foreign, admin, `{"title":"Mine"}`), http.StatusNotFound)
	if a := h.Do("DELETE", foreign, admin, nil); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := h.Do("GET", theirs, h.Theirs.Tokens[schema.RoleAdmin], nil); kept.Status != 200 || string(a.Body) != string(kept.Body) {
		t.Errorf("%s became %s", kept.Body, a.Body)
	}
}

// TestPatchesTogether sends many patches of different settings concurrently. All changes are stored.
func TestPatchesTogether(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/site-spaces/" + h.SiteSpace(h.Ours) + "/customization"
	patches := []string{
		`{"title":"Here"}`, `{"styling":{"theme":"bold"}}`, `{"styling":{"corners":"circular"}}`, `{"styling":{"sidebar":{"list":"line"}}}`,
		`{"pdf":{"enabled":false}}`, `{"git":{"showEditLink":true}}`, `{"ai":{"mode":"search"}}`, `{"footer":{"copyright":"us"}}`,
	}
	var wait sync.WaitGroup
	want := shape.Want(t, customizationShape, h.Do("GET", path, h.Ours.Tokens[schema.RoleAdmin], nil).Body)
	for _, patch := range patches {
		var sent map[string]any
		if err := json.Unmarshal([]byte(patch), &sent); err != nil {
			t.Fatal(err)
		}
		want = over(want, sent, leafNames)
		wait.Go(func() {
			if a := h.Do("PATCH", path, h.Ours.Tokens[schema.RoleAdmin], patch); a.Status != 200 {
				t.Errorf("%s: %d %s", patch, a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	// The patches of git and pdf also change the list of page actions.
	want["pageActions"].(map[string]any)["items"] = []any{"assistant", "external-ai", "markdown", "mcp", "git"}
	if diff := cmp.Diff(want, shape.Want(t, customizationShape, h.Do("GET", path, h.Ours.Tokens[schema.RoleAdmin], nil).Body)); diff != "" {
		t.Error(diff)
	}
}

func TestBadCustomization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	space := site + "/site-spaces/" + h.SiteSpace(h.Ours) + "/customization"
	before := h.Rows()
	for _, test := range []struct{ body, field string }{
		{`{}`, "favicon"},
		{`{"favicon":null}`, "favicon"},
		{`{"favicon":1}`, "favicon"},
		{`{"favicon":{"icon":{"light":"https://a.example/x"}}}`, "favicon.icon.dark"},
		{`{"favicon":{"icon":{"light":"https://a.example/x","dark":"/x"}}}`, "favicon.icon.dark"},
		{`{"favicon":{"emoji":"x","icon":{"light":"https://a.example/x","dark":"https://a.example/x"}}}`, "favicon"},
		{`{"favicon":{"zzz":1}}`, "favicon.zzz"},
		{`{"favicon":{"emoji":"x","zzz":null,"b":2}}`, "favicon.b"},
		{`{"favicon":{},"title":"x"}`, "title"},
		{`{"favicon":{},"styling":{"theme":"loud"}}`, "styling.theme"},
		{`{"favicon":{},"styling":{"primaryColor":{"light":"blue","dark":"#fff"}}}`, "styling.primaryColor.light"},
		{`{"favicon":{},"styling":{"primaryColor":"#fff"}}`, "styling.primaryColor"},
		{`{"favicon":{},"styling":{"tint":{}}}`, "styling.tint.color"},
		{`{"favicon":{},"styling":{"sidebar":{"list":"dots"}}}`, "styling.sidebar.list"},
		{`{"favicon":{},"styling":{"font":"Comic Sans"}}`, "styling.font"},
		{`{"favicon":{},"styling":{"font":[]}}`, "styling.font"},
		{`{"favicon":{},"styling":{"monospaceFont":{"id":"f","fontFamily":"F","fontFaces":[]}}}`, "styling.monospaceFont.fontFaces"},
		{`{"favicon":{},"styling":{"font":{"id":"f","fontFamily":"F","fontFaces":[{"weight":0,"sources":[{"url":"https://a.example"}]}]}}}`, "styling.font.fontFaces[0].weight"},
		{`{"favicon":{},"styling":{"font":{"id":"f","fontFamily":"F","fontFaces":[{"weight":1,"sources":[{"url":"f"}]}]}}}`, "styling.font.fontFaces[0].sources[0].url"},
		{`{"favicon":{},"header":{"links":[{"to":{"kind":"space","space":"s"}}]}}`, "header.links[0].title"},
		{`{"favicon":{},"header":{"links":[{"title":"a","to":{"kind":"moon"}}]}}`, "header.links[0].to.kind"},
		{`{"favicon":{},"header":{"links":[{"title":"a","links":[{"title":"a","to":{"kind":"page"}}]}]}}`, "header.links[0].links[0].to.page"},
		{`{"favicon":{},"header":{"links":[{"title":"a","style":"huge"}]}}`, "header.links[0].style"},
		{`{"favicon":{},"header":{"links":[null]}}`, "header.links[0].title"},
		{`{"favicon":{},"header":{"primaryLink":{"kind":"url"}}}`, "header.primaryLink.url"},
		{`{"favicon":{},"header":{"primaryLink":"https://a.example"}}`, "header.primaryLink"},
		{`{"favicon":{},"footer":{"groups":[{"title":"a","links":[{"title":"a"}]}]}}`, "footer.groups[0].links[0].to"},
		{`{"favicon":{},"announcement":{"enabled":true}}`, "announcement.message"},
		{`{"favicon":{},"announcement":{"message":"hello","style":"loud"}}`, "announcement.style"},
		{`{"favicon":{},"ai":{"suggestions":["a"]}}`, "ai.suggestions[0]"},
		{`{"favicon":{},"ai":{"suggestions":["abc","abc","abc","abc","abc","abc"]}}`, "ai.suggestions"},
		{`{"favicon":{},"pdf":{"enabled":"yes"}}`, "pdf.enabled"},
		{`{"favicon":{},"privacyPolicy":{"url":"javascript:alert(1)"}}`, "privacyPolicy.url"},
		{`{"favicon":{},"privacyPolicy":{"url":"http://a:b@evil.example/"}}`, "privacyPolicy.url"},
		{`{"favicon":{"icon":{"light":"http://a:b@evil.example/","dark":"https://evil.example/"}}}`,
			"favicon.icon.light"},
		{`{"favicon":{},"header":{"logo":{"light":"https://evil.example/","dark":"https://a@evil.example/"}}}`,
			"header.logo.dark"},
		{`{"favicon":{},"title":"a\u0000b"}`, "title"},
		{`{"favicon":{},"header":{"primaryLink":{"kind":"url","url":"a\u0000"}}}`, "header.primaryLink.url"},
	} {
		for _, call := range [][2]string{{"PUT", site + "/customization"}, {"PATCH", space}} {
			if call[0] == "PATCH" && (test.body == `{}` || test.body == `{"favicon":null}`) {
				continue
			}
			e := h.WantError(h.Do(call[0], call[1], admin, test.body), http.StatusBadRequest)
			if len(e.Details) == 0 || e.Details[0].Field != test.field {
				t.Errorf("%s %s: %+v, want %s", call[0], test.body, e.Details, test.field)
			}
		}
	}
	for _, test := range []struct{ body, field string }{
		{`{"announcement":null}`, "announcement"},
		{`{"internationalization":{}}`, "internationalization.locale"},
		{`{"pdf":{}}`, "pdf.enabled"},
		{`{"feedback":{}}`, "feedback.enabled"},
		{`{"git":{}}`, "git.showEditLink"},
		{`{"externalLinks":{}}`, "externalLinks.target"},
		{`{"pagination":{}}`, "pagination.enabled"},
		{`{"trademark":{"other":1}}`, "trademark.enabled"},
	} {
		e := h.WantError(h.Do("PATCH", space, admin, test.body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v, want %s", test.body, e.Details, test.field)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}

// newerCustomization has the members that were added to the contract after version 0.146.
const newerCustomization = `{"favicon":{},"localizedTitle":{"fr":"Le titre","zh-tw":"x"},"socialAccounts":[{"platform":"github","handle":"acme"},
		{"platform":"mastodon","handle":"a","display":{"footer":false,"header":true}}],
	"styling":{"headingFont":"Lato","codeTheme":{"default":{"light":"github-light","dark":"nord"}}},
	"header":{"links":[{"title":"A","localizedTitle":{"de":"B"},"to":null,"links":[{"title":"C","localizedTitle":{"fr":"D"},"to":{"kind":"page","page":"p"}}]}]},
	"footer":{"groups":[{"title":"E","localizedTitle":{"fr":"F"},"links":[]}]},"announcement":{"message":"Hello","localizedMessage":{"fr":"Salut"}},
	"ai":{"greeting":"Hi","localizedGreeting":{"fr":"Salut"},"instructions":"Be short."},"pageActions":{"items":["pdf","git","mcp"]}}`

func TestNewerCustomization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	siteSpace := s.AddSpace("One", "")
	set := shape.Want(t, customizationShape, h.Do("PUT", s.Base+"/customization", h.Ours.Tokens[schema.RoleAdmin], newerCustomization).Body)
	if diff := cmp.Diff(set, s.Ok("GET", "/customization", nil, 200)); diff != "" {
		t.Error(diff)
	}
	encoded, _ := json.Marshal(set)
	for _, part := range []string{
		`"localizedTitle":{"fr":"Le titre","zh-tw":"x"}`, `{"display":{"footer":true,"header":false},"handle":"acme","platform":"github"}`, `{"footer":false,"header":true}`,
		`"headingFont":"Lato"`, `"codeTheme":{"default":{"dark":"nord","light":"github-light"},"openapi":{"dark":"default-dark","light":"default-light"}}`,
		`"localizedTitle":{"de":"B"}`, `"localizedTitle":{"fr":"D"}`, `"localizedTitle":{"fr":"F"}`, `"localizedMessage":{"fr":"Salut"}`, `"greeting":"Hi"`,
		`"localizedGreeting":{"fr":"Salut"}`, `"instructions":"Be short."`, `"pageActions":{"externalAI":false,"items":["pdf","git","mcp"],"markdown":false,"mcp":true}`,
		`"git":{"showEditLink":true}`, `"pdf":{"enabled":true}`,
	} {
		if !bytes.Contains(encoded, []byte(part)) {
			t.Errorf("no %s in %s", part, encoded)
		}
	}
	// Switches of a site space change the list of page actions that it has from the site. A list of the site space
	// changes the switches.
	actions := func(patch, want string) {
		t.Helper()
		got := s.Ok("PATCH", "/site-spaces/"+siteSpace+"/customization", patch, 200)
		encoded, _ := json.Marshal([]any{got["pageActions"], got["git"], got["pdf"]})
		if string(encoded) != want {
			t.Errorf("%s: %s, want %s", patch, encoded, want)
		}
	}
	actions(`{"pageActions":{"markdown":true,"mcp":false},"git":{"showEditLink":false}}`,
		`[{"externalAI":false,"items":["pdf","markdown"],"markdown":true,"mcp":false},{"showEditLink":false},{"enabled":true}]`)
	actions(`{"pageActions":{"markdown":null,"mcp":null,"items":["assistant","external-ai"]},"git":{"showEditLink":null}}`,
		`[{"externalAI":true,"items":["assistant","external-ai"],"markdown":false,"mcp":false},{"showEditLink":false},{"enabled":false}]`)
	actions(`{"pageActions":{"items":null}}`,
		`[{"externalAI":false,"items":["pdf","git","mcp"],"markdown":false,"mcp":true},{"showEditLink":true},{"enabled":true}]`)
	// After a switch is removed, the list has the site's value again, even if the request sends all settings.
	actions(
		`{"pageActions":{"items":["mcp","markdown"],"markdown":true,"mcp":true,"externalAI":false},`+
			`"pdf":{"enabled":false},"git":{"showEditLink":false}}`,
		`[{"externalAI":false,"items":["mcp","markdown"],"markdown":true,"mcp":true},{"showEditLink":false},`+
			`{"enabled":false}]`,
	)
	actions(
		`{"pdf":{"enabled":null}}`,
		`[{"externalAI":false,"items":["mcp","markdown","pdf"],"markdown":true,"mcp":true},`+
			`{"showEditLink":false},{"enabled":true}]`,
	)
	actions(
		`{"git":null,"pageActions":{"markdown":null}}`,
		`[{"externalAI":false,"items":["mcp","pdf","git"],"markdown":false,"mcp":true},{"showEditLink":true},`+
			`{"enabled":true}]`,
	)
	actions(
		`{"pageActions":null}`,
		`[{"externalAI":false,"items":["pdf","git","mcp"],"markdown":false,"mcp":true},{"showEditLink":true},`+
			`{"enabled":true}]`,
	)
	for body, field := range map[string]string{
		`{"favicon":{},"pageActions":{"items":["x"]}}`:                                                       "pageActions.items[0]",
		`{"favicon":{},"pageActions":{"items":["pdf","pdf"]}}`:                                               "pageActions.items",
		`{"favicon":{},"socialAccounts":[{"platform":"myspace","handle":"a"}]}`:                              "socialAccounts[0].platform",
		`{"favicon":{},"socialAccounts":[{"platform":"github"}]}`:                                            "socialAccounts[0].handle",
		`{"favicon":{},"styling":{"codeTheme":{"default":{"light":"x","dark":"nord"}}}}`:                     "styling.codeTheme.default.light",
		`{"favicon":{},"styling":{"headingFont":"Comic"}}`:                                                   "styling.headingFont",
		`{"favicon":{},"localizedTitle":{"klingon":"x"}}`:                                                    "localizedTitle.klingon",
		`{"favicon":{},"header":{"links":[{"title":"A","localizedTitle":{"xx":"B"},"to":null,"links":[]}]}}`: "header.links[0].localizedTitle.xx",
	} {
		s.Refused("PUT", "/customization", body, 400, field)
	}
	if diff := cmp.Diff(set, s.Ok("GET", "/customization", nil, 200)); diff != "" {
		t.Error(diff)
	}
}
