package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestOpenAPIDocument parses the served OpenAPI document with a library, and compares its operations with the table of
// operations.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	a := h.Do(http.MethodGet, "/v1/openapi.json", "", nil)
	if a.Status != http.StatusOK || a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", a.Status, a.Header)
	}
	document, err := openapi3.NewLoader().LoadFromData(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context(), openapi3.EnableSchemaPatternValidation()); err != nil {
		t.Error(err)
	}
	if url := document.Servers[0].URL; url != "https://docs.example.com/base/v1" {
		t.Errorf("server %s", url)
	}
	described := 0
	for _, item := range document.Paths.Map() {
		described += len(item.Operations())
	}
	if described != len(h.Table) {
		t.Errorf("%d operations are described, %d are in the table", described, len(h.Table))
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		got := document.Paths.Value(op.Path).GetOperation(op.Method)
		if got.OperationID != op.ID || (got.RequestBody != nil) != (op.BodyLimit > 0) || got.Responses.Status(op.Status) == nil {
			t.Errorf("%s is described as %+v", op.ID, got)
		}
		if op.Handler.Response.Implements(reflect.TypeFor[frame.Statused]()) && got.Responses.Status(http.StatusCreated) == nil {
			t.Errorf("%s creates, too, and that is not described", op.ID)
		}
		for _, name := range frame.PathParam.FindAllStringSubmatch(op.Path, -1) {
			if got.Parameters.GetByInAndName("path", name[1]) == nil {
				t.Errorf("%s: %s is not described", op.ID, name[1])
			}
		}
	})
}

// TestAnswersFollowTheOpenAPIDocument checks every operation's answer, and refusals of the frame, against the OpenAPI
// document.
func TestAnswersFollowTheOpenAPIDocument(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	document, err := openapi3.NewLoader().LoadFromData(h.Do(http.MethodGet, "/v1/openapi.json", "", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		admin := h.Ours.Tokens[schema.RoleAdmin]
		answers := []apitest.Answer{h.Try(op, h.Ours, ""), h.Try(op, h.Ours, h.Ours.SiteKey), h.Try(op, h.Ours, admin)}
		if op.Scope.Object != nil {
			answers = append(answers, h.Try(op, h.Theirs, admin))
		}
		if op.BodyLimit > 0 {
			path, body := h.Example(op, h.Ours)
			answers = append(answers, h.Do(op.Method, path, admin, body, "Content-Type", "text/plain"),
				h.Do(op.Method, path, admin, "{"), h.Do(op.Method, path, admin, bytes.Repeat([]byte(" "), op.BodyLimit+1)))
		}
		for _, a := range answers {
			if err := follows(document.Paths.Value(op.Path).GetOperation(op.Method), a); err != nil {
				t.Errorf("%d %s: %v", a.Status, a.Body, err)
			}
		}
	})
}

// follows checks an answer against the document's response for its status.
func follows(op *openapi3.Operation, a apitest.Answer) error {
	response := op.Responses.Status(a.Status)
	if response == nil {
		return errors.New("the status is not described")
	}
	form, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if len(response.Value.Content) == 0 {
		if len(a.Body) > 0 {
			return errors.New("it has a body")
		}
		return nil
	}
	media := response.Value.Content.Get(form)
	if err != nil || media == nil {
		return fmt.Errorf("the type %q is not described", a.Header.Get("Content-Type"))
	}
	if form != "application/json" {
		return nil
	}
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, openapi3.EnableFormatValidation())
}

// TestRulesAreInTheOpenAPIDocument checks that the document has the rules, with an example for each kind of rule.
func TestRulesAreInTheOpenAPIDocument(t *testing.T) {
	t.Parallel()
	raw, err := api.OpenAPI("https://docs.example.com")
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	body := document.Paths.Value("/orgs").Post.RequestBody.Value.Content["application/json"].Schema.Value
	title, domains := body.Properties["title"].Value, body.Properties["emailDomains"].Value
	if title.MinLength != 2 || *title.MaxLength != 255 || title.Pattern != `\S.*\S` || !slices.Contains(body.Required, "title") {
		t.Errorf("title %+v, required %v", title, body.Required)
	}
	if *domains.MaxItems != 100 || *domains.Items.Value.MaxLength != 253 || slices.Contains(body.Required, "emailDomains") {
		t.Errorf("emailDomains %+v", domains)
	}
	limit := document.Paths.Value("/orgs").Get.Parameters.GetByInAndName("query", "limit").Schema.Value
	if *limit.Min != 0 || *limit.Max != 1000 || !strings.Contains(limit.Description, "50") {
		t.Errorf("limit %+v", limit)
	}
}

// TestOpenAPIDocumentIsCompressed compares the compressed document with the document that is not compressed.
func TestOpenAPIDocumentIsCompressed(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	// If a test sets Accept-Encoding, net/http does not decompress the answer.
	plain := h.Do(http.MethodGet, "/v1/openapi.json", "", nil, "Accept-Encoding", "identity")
	packed := h.Do(http.MethodGet, "/v1/openapi.json", "", nil, "Accept-Encoding", "br, gzip")
	reader, err := gzip.NewReader(bytes.NewReader(packed.Body))
	if err != nil {
		t.Fatalf("%v: %v", err, packed.Header)
	}
	unpacked, err := io.ReadAll(reader)
	if err != nil || !bytes.Equal(unpacked, plain.Body) || len(packed.Body) > len(plain.Body)/4 {
		t.Errorf("%d bytes are compressed to %d, %v", len(plain.Body), len(packed.Body), err)
	}
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v and %v", packed.Header, plain.Header)
	}
	if packed.Header.Get("Vary") != "Accept-Encoding" || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v and %v", packed.Header, plain.Header)
	}
}
