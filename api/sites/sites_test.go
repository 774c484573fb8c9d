package sites_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
)

var (
	siteSpaceShape = shape.Of{
		"object": shape.One("site-space"), "id": shape.ID, "path": shape.Text(1, 100), "section?": shape.ID, "space": shape.Object(shape.Space),
		"title": shape.Text(0, 50), "default": shape.Boolean, "condition?": shape.Text(0, 1024), "hasAdvancedCustomizationFeature": shape.Boolean,
		"hidden": shape.Boolean, "urls": shape.Object(shape.Of{"published?": shape.URI}),
	}
	sectionShape = shape.Of{
		"object": shape.One("site-section"), "id": shape.ID, "title": shape.Text(2, 128), "description?": shape.Text(0, 256), "default": shape.Boolean,
		"path": shape.Text(1, 100), "condition?": shape.Text(0, 1024), "sectionGroup?": shape.ID, "icon?": shape.Text(0, 50),
		"siteSpaces": shape.List(shape.Object(siteSpaceShape)), "urls": shape.Object(shape.Of{"published?": shape.URI}),
	}
	groupShape = shape.Of{
		"object": shape.One("site-section-group"), "id": shape.ID, "title": shape.Text(1, 100), "sectionGroup?": shape.ID, "icon?": shape.Text(0, 50),
		"sections": shape.List(shape.Object(sectionShape)), "children": shape.List(func(any) error { return nil }),
	}
	shareLinkShape = shape.Of{
		"object": shape.One("share-link"), "id": shape.ID, "createdAt": shape.Timestamp, "name": shape.Text(0, 50), "active": shape.Boolean,
		"urls": shape.Object(shape.Of{"published?": shape.URI}),
	}
	redirectShape = shape.Of{
		"object": shape.One("site-redirect"), "id": shape.ID, "source": shape.Text(2, 512), "destination": shape.Object(shape.Of{
			"kind":           shape.One("site-section", "site-space", "site-page", "external"),
			"siteSectionId?": shape.ID, "siteSpaceId?": shape.ID, "pageId?": shape.ID, "url?": shape.Text(1, 2048),
		}), "draft": shape.Boolean,
	}
)

func TestUpdateSite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{"title":"Docs"}`)
	root := "https://docs.example.com/base/~/sites/" + s.Base[strings.LastIndex(s.Base, "/")+1:]
	got := s.Ok("PATCH", "", `{"title":"Manual","visibility":"unlisted","basename":"manual","adaptiveContent":{"enabled":true},
		"agentsContext":"excluded","proxy":"acme.com/docs"}`, 200)
	if err := shape.Check(shape.Site, got); err != nil {
		t.Error(err)
	}
	want := "Manual unlisted manual true excluded acme.com/docs " + root
	if l := apitest.Line(got, "title", "visibility", "basename", "adaptiveContent.enabled", "agentsContext", "proxy.origin", "proxy.target"); l != want {
		t.Errorf("got %s, want %s", l, want)
	}
	if got := s.Ok("POST", "/publish", nil, 200); got["published"] != true || apitest.Line(got, "urls.published") != "https://acme.com/docs" {
		t.Errorf("published behind a proxy: %v", got)
	}
	got = s.Ok("PATCH", "", `{"proxy":null}`, 200)
	if got["proxy"] != nil || apitest.Line(got, "urls.published") != root {
		t.Errorf("without the proxy: %v", got)
	}
	if got := s.Ok("POST", "/unpublish", nil, 200); got["published"] != false || apitest.Line(got, "urls.published") != "<nil>" {
		t.Errorf("unpublished: %v", got)
	}
	other := h.NewSite(`{}`)
	other.Refused("PATCH", "", `{"basename":"manual"}`, 409, "")
	for _, bad := range [][2]string{
		{`{"title":"x"}`, "title"}, {`{"visibility":"secret"}`, "visibility"}, {`{"basename":"a/b"}`, "basename"},
		{`{"basename":""}`, "basename"}, {`{"adaptiveContent":{}}`, "adaptiveContent.enabled"}, {`{"agentsContext":"maybe"}`, "agentsContext"},
		{`{"proxy":"acme.com"}`, "proxy"}, {`{"defaultSiteSpace":"nowhere"}`, "defaultSiteSpace"},
		{`{"defaultSiteSection":"nowhere"}`, "defaultSiteSection"},
	} {
		s.Refused("PATCH", "", bad[0], 400, bad[1])
	}
	s.Ok("DELETE", "", nil, 204)
	s.Ok("DELETE", "", nil, 204)
	s.Refused("GET", "", nil, 404, "")
}

func TestDefaultsOfSite(t *testing.T) {
	t.Parallel()
	s := apitest.New(t).NewSite(`{}`)
	s.AddSpace("One", "")
	two := s.AddSpace("Two", "")
	s.Ok("PATCH", "", map[string]any{"defaultSiteSpace": two}, 200)
	wantLines(t, s.Items("/site-spaces", "title", "default"), "One false", "Two true")
	first, second := s.AddSection("First"), s.AddSection("Second")
	// The site spaces of the root are now in a section of their own, and the home page stays the same.
	wantLines(t, s.Items("/sections", "title", "default", "path"), "Two true two", "First false first", "Second false second")
	front := s.Items("/sections", "id")[0]
	wantLines(t, s.Items("/site-spaces", "title", "default", "section"),
		"One false "+front, "Two true "+front, "First true "+first, "Second true "+second)
	inSecond := s.AddSpace("Third", second)
	s.Refused("PATCH", "", map[string]any{"defaultSiteSpace": inSecond}, 400, "defaultSiteSpace")
	s.Ok("PATCH", "", map[string]any{"defaultSiteSpace": inSecond, "defaultSiteSection": second}, 200)
	wantLines(t, s.Items("/sections", "title", "default"), "Two false", "First false", "Second true")
	wantLines(t, s.Items("/site-spaces?default=true", "title"), "Two", "First", "Third")
	wantLines(t, s.Items("/site-spaces?default=false", "title"), "One", "Second")
	s.Ok("DELETE", "/sections/"+first, nil, 204)
	wantLines(t, s.Items("/site-spaces", "title"), "One", "Two", "Second", "Third")
}

// TestFirstSectionOfASpaceAtTheRoot adds the first section, with a space that already has a site space at the root. The
// space then still has only one site space. If this site space is the home page, the site has only the new section.
func TestFirstSectionOfASpaceAtTheRoot(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	s.AddSpace("Guide", "")
	reference := h.FreshSpace(h.Ours, "Reference").ID
	s.Ok("POST", "/site-spaces", map[string]any{"spaceId": reference}, 201)
	s.Ok("POST", "/sections", map[string]any{"spaceId": reference, "title": "API"}, 201)
	wantLines(t, s.Items("/sections", "title", "default"), "Guide true", "API false")
	wantLines(t, s.Items("/site-spaces", "title", "default"), "Guide true", "Reference true")
	home := h.NewSite(`{}`)
	guide := h.FreshSpace(h.Ours, "Guide").ID
	home.Ok("POST", "/site-spaces", map[string]any{"spaceId": guide}, 201)
	home.AddSpace("Reference", "")
	home.Ok("POST", "/sections", map[string]any{"spaceId": guide, "title": "All"}, 201)
	wantLines(t, home.Items("/sections", "title", "default"), "All true")
	wantLines(t, home.Items("/site-spaces", "title", "default"), "Guide true", "Reference false")
}

func wantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func decodeAnswer(t testing.TB, body []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s: %v", body, err)
	}
	return value
}
