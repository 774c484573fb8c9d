package api

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func customizationExamples() {
	siteSpace := func(h *harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"siteSpaceId": h.siteSpace(tenant)}
	}
	examples["updateSiteCustomizationById"] = example{body: `{"favicon":{}}`}
	examples["getSiteSpaceCustomizationById"] = example{make: siteSpace}
	examples["overrideSiteSpaceCustomizationById"] = example{body: `{"title":"Here"}`, make: siteSpace}
	examples["deleteSiteSpaceCustomizationById"] = example{make: siteSpace}
}

// siteSpace gives the id of a tenant's first site space.
func (h *harness) siteSpace(tenant *storetest.Tenant) string {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	var id string
	err = conn.QueryRow(h.t.Context(), "select id from site_spaces where site_id = $1 order by id limit 1", tenant.Site.ID).Scan(&id)
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

var (
	color       = text(4, 7)
	themedColor = object(shape{"light": color, "dark": color})
	themedURL   = object(shape{"light": text(1, 2048), "dark": text(1, 2048)})
	contentRef  = object(shape{"kind": text(1, 20), "url?": aString, "space?": aString, "page?": aString, "file?": aString, "spec?": aString})
	contentLink = object(shape{"title": text(0, 64), "to": contentRef})

	fontDefinition = object(shape{"id": aString, "custom": boolean, "fontFamily": text(1, 50),
		"fontFaces": list(object(shape{"weight": count, "sources": list(object(shape{"url": text(1, 2048), "format?": one("woff2", "woff")}))}))})

	customizationShape = shape{
		"title?": text(2, 128),
		"styling": object(shape{
			"theme": one("clean", "muted", "bold", "gradient"), "primaryColor": themedColor, "infoColor": themedColor,
			"successColor": themedColor, "warningColor": themedColor, "dangerColor": themedColor, "tint?": object(shape{"color": themedColor}),
			"corners": one("straight", "rounded", "circular"), "depth": one("subtle", "flat"), "links": one("default", "accent"),
			"font": either(aString, fontDefinition), "monospaceFont": either(aString, fontDefinition), "background": one("plain", "match"),
			"icons":   one("regular", "solid", "duotone", "light", "thin"),
			"sidebar": object(shape{"background": one("default", "filled"), "list": one("default", "pill", "line")}),
			"search":  one("prominent", "subtle"),
		}),
		"internationalization": object(shape{"locale": text(2, 5)}),
		"favicon":              either(object(shape{"icon": themedURL}), object(shape{"emoji": text(1, 50)}), object(shape{})),
		"header": object(shape{
			"preset": one("default", "bold", "contrast", "custom", "none"), "logo?": themedURL, "backgroundColor?": themedColor,
			"linkColor?": themedColor, "primaryLink?": contentRef,
			"links": list(object(shape{"title": aString, "style?": one("link", "button-primary", "button-secondary"),
				"to": either(contentRef, one(nil)), "links": list(contentLink), "condition?": text(0, 1024)})),
		}),
		"footer": object(shape{"logo?": themedURL, "copyright?": text(0, 300),
			"groups": list(object(shape{"title": aString, "links": list(contentLink)}))}),
		"announcement?": object(shape{"enabled": boolean, "message": text(2, 128), "link?": contentLink,
			"style": one("info", "warning", "danger", "success")}),
		"themes": object(shape{"default": one("light", "dark"), "toggeable": boolean}),
		"pdf":    booleans("enabled"), "feedback": booleans("enabled"), "advancedCustomization": booleans("enabled"),
		"ai":  object(shape{"mode": one("none", "search", "assistant"), "suggestions?": list(text(3, 64))}),
		"git": booleans("showEditLink"), "pageActions": booleans("externalAI markdown mcp"),
		"externalLinks": object(shape{"target": one("self", "blank")}),
		"pagination":    booleans("enabled"), "trademark": booleans("enabled"),
		"privacyPolicy": object(shape{"url?": text(1, 2048)}), "socialPreview": object(shape{"url?": text(1, 2048)}),
		"insights": booleans("trackingCookie"),
	}
)

// either passes what any of the checks passes.
func either(checks ...func(any) error) func(any) error {
	return func(v any) (err error) {
		for _, check := range checks {
			if err = check(v); err == nil {
				return nil
			}
		}
		return err
	}
}

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
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	path := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/customization"
	fresh := wantShape(t, customizationShape, h.do("GET", path, admin, nil).body)
	if _, there := fresh["title"]; there || fresh["styling"].(map[string]any)["theme"] != "clean" {
		t.Errorf("%v", fresh)
	}
	full := h.do("PUT", path, admin, fullCustomization)
	got := wantShape(t, customizationShape, full.body)
	var sent map[string]any
	if err := json.Unmarshal([]byte(fullCustomization), &sent); err != nil {
		t.Fatal(err)
	}
	// What was sent, with what the defaults and the absent members of leaves come to.
	sent["styling"].(map[string]any)["font"].(map[string]any)["custom"] = true
	sent["announcement"].(map[string]any)["enabled"] = true
	sent["announcement"].(map[string]any)["style"] = "info"
	header := sent["header"].(map[string]any)["links"].([]any)
	header[0].(map[string]any)["to"] = nil
	header[1].(map[string]any)["links"] = []any{}
	header[1].(map[string]any)["to"] = map[string]any{"kind": "page", "page": "p1"}
	delete(sent, "unknown")
	delete(sent, "pdf")
	if diff := cmp.Diff(over(fresh, sent, leafNames), got); diff != "" || full.status != 200 {
		t.Errorf("%d %s", full.status, diff)
	}
	for _, query := range []string{"", "?unmasked=true"} {
		if diff := cmp.Diff(got, wantShape(t, customizationShape, h.do("GET", path+query, admin, nil).body)); diff != "" {
			t.Errorf("read: %s", diff)
		}
	}
	// The next PUT replaces all of it.
	if diff := cmp.Diff(fresh, wantShape(t, customizationShape, h.do("PUT", path, admin, `{"favicon":{}}`).body)); diff != "" {
		t.Error(diff)
	}
	// What is answered can be sent back.
	h.do("PUT", path, admin, full.body)
	if diff := cmp.Diff(got, wantShape(t, customizationShape, h.do("GET", path, admin, nil).body)); diff != "" {
		t.Error(diff)
	}
}

// leafNames are the members of a JSON tree whose objects are no groups.
var leafNames = map[string]bool{
	"primaryColor": true, "tint": true, "font": true, "monospaceFont": true, "favicon": true, "logo": true, "announcement": true, "primaryLink": true,
}

// over lays one JSON tree over another, leaf by leaf; it knows nothing of the types.
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
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	site := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID
	path := site + "/site-spaces/" + h.siteSpace(h.ours) + "/customization"
	read := func() map[string]any { return wantShape(t, customizationShape, h.do("GET", path, admin, nil).body) }
	h.do("PUT", site+"/customization", admin, `{"favicon":{"emoji":"📘"},"title":"Site","styling":{"theme":"bold","corners":"circular"}}`)
	inherited := read()
	for _, step := range []struct{ patch, title, theme, corners, pdf string }{
		{`{}`, "Site", "bold", "circular", "true"},
		{`{"title":"Here","styling":{"theme":"muted"},"pdf":{"enabled":false}}`, "Here", "muted", "circular", "false"},
		{`{"styling":{"corners":"straight"}}`, "Here", "muted", "straight", "false"},
		{`{"title":null,"pdf":{"enabled":null}}`, "Site", "muted", "straight", "true"},
		{`{"styling":{"theme":null}}`, "Site", "bold", "straight", "true"},
		{`{"styling":null}`, "Site", "bold", "circular", "true"},
	} {
		a := h.do("PATCH", path, admin, step.patch)
		got := wantShape(t, customizationShape, a.body)
		styling := got["styling"].(map[string]any)
		pdf, _ := json.Marshal(got["pdf"].(map[string]any)["enabled"])
		if a.status != 200 || got["title"] != step.title || styling["theme"] != step.theme || styling["corners"] != step.corners || string(pdf) != step.pdf {
			t.Errorf("%s: %d %s", step.patch, a.status, a.body)
		}
		if diff := cmp.Diff(got, read()); diff != "" {
			t.Errorf("%s: read: %s", step.patch, diff)
		}
	}
	// All overrides at once go by DELETE, which may be repeated; the site's own settings stay.
	h.do("PATCH", path, admin, `{"title":"Here","favicon":{},"header":{"links":[]},"announcement":{"enabled":false,"message":"Hi","style":"info"}}`)
	for range 2 {
		if a := h.do("DELETE", path, admin, nil); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if diff := cmp.Diff(inherited, read()); diff != "" {
		t.Error(diff)
	}
	// A change of the site reaches the site space where it overrides nothing.
	h.do("PATCH", path, admin, `{"styling":{"theme":"gradient"}}`)
	h.do("PUT", site+"/customization", admin, `{"favicon":{},"title":"Other","styling":{"theme":"bold","depth":"flat"}}`)
	if got := read(); got["title"] != "Other" || got["styling"].(map[string]any)["theme"] != "gradient" || got["styling"].(map[string]any)["depth"] != "flat" {
		t.Errorf("%v", got)
	}
	// Another site's site space is not found here, and not touched.
	local := "/site-spaces/" + h.siteSpace(h.theirs) + "/customization"
	foreign, theirs := site+local, "/v1/orgs/"+h.theirs.Organization.ID+"/sites/"+h.theirs.Site.ID+local
	kept := h.do("PATCH", theirs, h.theirs.Tokens[schema.RoleAdmin], `{"title":"Theirs"}`)
	h.wantError(h.do("GET", foreign, admin, nil), http.StatusNotFound)
	h.wantError(h.do("PATCH", foreign, admin, `{"title":"Mine"}`), http.StatusNotFound)
	if a := h.do("DELETE", foreign, admin, nil); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.do("GET", theirs, h.theirs.Tokens[schema.RoleAdmin], nil); kept.status != 200 || string(a.body) != string(kept.body) {
		t.Errorf("%s became %s", kept.body, a.body)
	}
}

// TestPatchesTogether sends many patches of different leaves at once: none is lost.
func TestPatchesTogether(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/site-spaces/" + h.siteSpace(h.ours) + "/customization"
	patches := []string{
		`{"title":"Here"}`, `{"styling":{"theme":"bold"}}`, `{"styling":{"corners":"circular"}}`, `{"styling":{"sidebar":{"list":"line"}}}`,
		`{"pdf":{"enabled":false}}`, `{"git":{"showEditLink":true}}`, `{"ai":{"mode":"search"}}`, `{"footer":{"copyright":"us"}}`,
	}
	var wait sync.WaitGroup
	want := wantShape(t, customizationShape, h.do("GET", path, h.ours.Tokens[schema.RoleAdmin], nil).body)
	for _, patch := range patches {
		var sent map[string]any
		if err := json.Unmarshal([]byte(patch), &sent); err != nil {
			t.Fatal(err)
		}
		want = over(want, sent, leafNames)
		wait.Go(func() {
			if a := h.do("PATCH", path, h.ours.Tokens[schema.RoleAdmin], patch); a.status != 200 {
				t.Errorf("%s: %d %s", patch, a.status, a.body)
			}
		})
	}
	wait.Wait()
	if diff := cmp.Diff(want, wantShape(t, customizationShape, h.do("GET", path, h.ours.Tokens[schema.RoleAdmin], nil).body)); diff != "" {
		t.Error(diff)
	}
}

func TestBadCustomization(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	site := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID
	space := site + "/site-spaces/" + h.siteSpace(h.ours) + "/customization"
	before := h.rows()
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
		{`{"favicon":{},"title":"a\u0000b"}`, "title"},
		{`{"favicon":{},"header":{"primaryLink":{"kind":"url","url":"a\u0000"}}}`, "header.primaryLink.url"},
	} {
		for _, call := range [][2]string{{"PUT", site + "/customization"}, {"PATCH", space}} {
			if call[0] == "PATCH" && (test.body == `{}` || test.body == `{"favicon":null}`) {
				continue
			}
			e := h.wantError(h.do(call[0], call[1], admin, test.body), http.StatusBadRequest)
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
		e := h.wantError(h.do("PATCH", space, admin, test.body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != test.field {
			t.Errorf("%s: %+v, want %s", test.body, e.Details, test.field)
		}
	}
	if diff := cmp.Diff(before, h.rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}
