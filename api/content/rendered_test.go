package content_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/cmd/engine/typst"
	"github.com/octavo-docs/octavo/schema"
)

// TestPDFsAreRendered makes a PDF with the real renderer, of pages with an image that it draws and one that it cannot.
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
