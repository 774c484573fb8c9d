package content_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/schema"
)

// TestPDFsAreRendered makes a PDF with the real renderer. The pages have an image that the renderer can draw, and an
// image that it cannot draw.
func TestPDFsAreRendered(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_files","files":[{"name":"a.png","base64":"`+
		base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nxx"))+`"}]}`)
	file := apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/content", nil, 200).Files[0].ID
	h.ChangeContent(schema.RoleEdit, request.ID, `{"operation":"insert_page","title":"日本語 #panic()","ref":"top","document":{"markdown":"| a | b |\n| - | - |\n| 1 | مرحبا |\n\n![x](ref:file/`+file+`)"}}`,
		`{"operation":"insert_page","title":"Below","into":"top"}`)
	address := apitest.Ask[schema.ExportURL](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/pdf", nil, 200).URL
	jobstest.DrainWith(t, h.Store, typst.New(typst.Config{}))
	a := h.Do("GET", strings.TrimPrefix(address, "https://docs.example.com/base"), "", nil)
	if a.Status != 200 || !bytes.HasPrefix(a.Body, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(a.Body), []byte("%%EOF")) || len(a.Body) < 5000 {
		t.Errorf("%d, %d bytes, %.100q", a.Status, len(a.Body), a.Body)
	}
}

// TestHiddenPagesInPDFs checks that a hidden page and the pages below it are only in a PDF of the hidden page itself.
func TestHiddenPagesInPDFs(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	request := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, request.ID,
		`{"operation":"insert_page","title":"Shown","ref":"shown"}`,
		`{"operation":"insert_page","title":"Child","into":"shown"}`,
		`{"operation":"insert_page","title":"Draft","into":"shown","ref":"draft","hidden":true}`,
		`{"operation":"insert_page","title":"Below","into":"draft","ref":"below"}`,
		`{"operation":"insert_page","title":"Deep","into":"draft","hidden":true}`,
		`{"operation":"insert_page","type":"group","title":"Group","ref":"group","hidden":true}`,
		`{"operation":"insert_page","title":"Member","into":"group"}`)
	ids := map[string]string{}
	var add func(pages []schema.RevisionPage)
	add = func(pages []schema.RevisionPage) {
		for _, page := range pages {
			ids[page.Title] = page.ID
			add(page.Pages)
		}
	}
	add(apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/content", nil, 200).Pages)
	got := printed{&strings.Builder{}}
	title := regexp.MustCompile(`"title":"([^"]*)"`)
	for query, want := range map[string]string{
		"":                                     "Shown Child",
		"?page=" + ids["Shown"]:                "Shown Child",
		"?page=" + ids["Draft"]:                "Draft Below",
		"?page=" + ids["Draft"] + "&only=true": "Draft",
		"?page=" + ids["Below"]:                "Below",
		"?page=" + ids["Deep"] + "&only=true":  "Deep",
		"?page=" + ids["Group"]:                "Group Member",
		"?page=" + ids["Member"]:               "Member",
	} {
		apitest.Ask[schema.ExportURL](h, schema.RoleRead, "GET", h.RequestPath(request.ID)+"/pdf"+query, nil, 200)
		jobstest.DrainWith(t, h.Store, got)
		var titles []string
		for _, found := range title.FindAllStringSubmatch(got.text.String(), -1) {
			titles = append(titles, found[1])
		}
		if strings.Join(titles, " ") != want {
			t.Errorf("%q has the pages %q, want %s", query, titles, want)
		}
	}
}
