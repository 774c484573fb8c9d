package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// servedDocument reads the OpenAPI document that the harness serves.
func servedDocument(h *apitest.Harness) *openapi3.T {
	h.T.Helper()
	document, err := openapi3.NewLoader().LoadFromData(h.Do(http.MethodGet, "/v1/openapi.json", "", nil).Body)
	if err != nil {
		h.T.Fatal(err)
	}
	return document
}

// describes checks a body against the schema that the document has for the operation's body.
func describes(document *openapi3.T, op *frame.Operation, body string) error {
	media := document.Paths.Value(op.Path).GetOperation(op.Method).RequestBody.Value.Content.Get("application/json")
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value)
}

// TestTheDocumentIsAsStrictAsTheService sends valid bodies, and bodies that are invalid by a small difference. The
// server and its OpenAPI document must accept the same bodies.
func TestTheDocumentIsAsStrictAsTheService(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	document := servedDocument(h)
	const paragraph = `{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"x"}]}]}]}`
	gitRef := func(ref string) string {
		text, err := json.Marshal("refs/heads/" + ref)
		if err != nil {
			t.Fatal(err)
		}
		return `{"url":"https://git.example/x","ref":` + string(text) + `}`
	}
	for id, bodies := range map[string]struct{ taken, refused []string }{
		"postCommentInSpace": {
			[]string{`{"body":{"markdown":"a","more":5}}`, `{"body":{"document":` + paragraph + `}}`},
			[]string{
				`{}`, `{"body":{}}`, `{"body":"a"}`, `{"body":{"markdown":5}}`, `{"body":{"markdown":" \n"}}`, `{"body":{"text":"a"}}`,
				`{"body":{"markdown":"a\u0000"}}`, `{"body":{"markdown":"a"},"node":"a\u0000"}`,
				`{"body":{"markdown":"a","document":` + paragraph + `}}`, `{"body":{"markdown":5,"document":` + paragraph + `}}`,
				`{"body":{"document":{}}}`, `{"body":{"document":{"nodes":{}}}}`, `{"body":{"document":{"nodes":[{"type":"moon"}]}}}`,
				`{"body":{"document":{"object":"moon","nodes":[]}}}`,
			},
		},
		"submitChangeRequestReview": {
			[]string{`{"status":"approved","comment":{}}`, `{"status":"approved","comment":{"markdown":""}}`},
			[]string{`{"status":"approved","comment":{"markdown":5}}`, `{"status":"approved","comment":{"text":"a"}}`},
		},
		"updateChangeRequestById": {
			[]string{`{"description":` + paragraph + `}`, `{"description":null}`},
			[]string{`{"description":{"markdown":"a"}}`, `{"description":{}}`, `{"description":"a"}`},
		},
		"updateOrganizationById": {
			[]string{
				`{"mergeRules":{"type":"none"}}`, `{"mergeRules":{"type":"rules","rules":[]}}`,
				`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass","users":[]},{"rule":"require_author_to_merge"}]}}`,
				`{"mergeRules":{"type":"rules","rules":[{"rule":"custom","expression":"true"}]}}`,
			},
			[]string{
				`{"mergeRules":{"type":"inherit"}}`, `{"mergeRules":{"type":"rules"}}`, `{"mergeRules":{}}`,
				`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass"}]}}`,
				`{"mergeRules":{"type":"rules","rules":[{"rule":"custom"}]}}`,
				`{"mergeRules":{"type":"rules","rules":[{"rule":"require_agent_review"}]}}`, `{"title":"a\u0000b"}`,
			},
		},
		"updateSpaceById": {
			[]string{`{"mergeRules":{"type":"inherit"}}`, `{"mergeRules":{"type":"rules","rules":[{"rule":"require_at_least_one_review"}]}}`},
			[]string{`{"mergeRules":{"type":"rules"}}`, `{"mergeRules":{"type":"rules","rules":[{"rule":"require_specific_reviewers"}]}}`, `{"title":""}`},
		},
		"importGitRepository": {
			[]string{gitRef("main"), gitRef("a/b.c"), gitRef("a@b"), gitRef("é"), gitRef("lock"), gitRef("a.lockb")},
			[]string{
				gitRef(""), gitRef("@"), gitRef("a b"), gitRef("a..b"), gitRef("a@{b"), gitRef("a."), gitRef("a/"), gitRef("/a"), gitRef("a//b"),
				gitRef(".a"), gitRef("a/.b"), gitRef("a.lock"), gitRef("a.lock/b"), gitRef("a\x01"), gitRef("a\x00"), gitRef("a\x7f"),
				gitRef("a~"), gitRef("a^"), gitRef("a:b"), gitRef("a?"), gitRef("a*"), gitRef("a["), gitRef(`a\b`),
				`{"url":"https://git.example/x","ref":"main"}`, `{"url":"https://git.example/x","ref":"refs/tags/a"}`,
			},
		},
		"updateSiteCustomizationById": {
			[]string{
				`{"favicon":{}}`, `{"favicon":{"emoji":"📘"}}`, `{"favicon":{},"header":{"primaryLink":{"kind":"space","space":"s","more":1}}}`,
				`{"favicon":{},"header":{"primaryLink":{"kind":"page","page":"p","space":null}}}`,
			},
			[]string{
				`{}`, `{"favicon":{"zzz":1}}`, `{"favicon":{},"header":{"primaryLink":{"kind":"page"}}}`,
				`{"favicon":{"emoji":"x","icon":{"light":"https://a.example/x","dark":"https://a.example/x"}}}`,
				`{"favicon":{},"header":{"primaryLink":{"kind":"moon"}}}`, `{"favicon":{},"header":{"primaryLink":{"kind":"url","url":"a\u0000"}}}`,
			},
		},
	} {
		at := slices.IndexFunc(h.Table, func(o frame.Operation) bool { return o.ID == id })
		if at < 0 {
			t.Fatalf("no operation %s", id)
		}
		op := &h.Table[at]
		for _, body := range bodies.taken {
			path, _ := h.Example(op, h.Ours)
			if a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body); a.Status != op.Status {
				t.Errorf("%s: the service refuses %s: %d %s", id, body, a.Status, a.Body)
			}
			if err := describes(document, op, body); err != nil {
				t.Errorf("%s: the document refuses %s: %v", id, body, firstLine(err))
			}
		}
		for _, body := range bodies.refused {
			path, _ := h.Example(op, h.Ours)
			if a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body); a.Status != http.StatusBadRequest {
				t.Errorf("%s: the service takes %s: %d %s", id, body, a.Status, a.Body)
			}
			if describes(document, op, body) == nil {
				t.Errorf("%s: the document takes %s", id, body)
			}
		}
	}
}

// TestTheDocumentTakesTheExamples checks that the OpenAPI document accepts the example body of every operation.
func TestTheDocumentTakesTheExamples(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	document := servedDocument(h)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.BodyLimit == 0 || !slices.Contains(op.Accepts, "application/json") {
			return
		}
		_, body := h.Example(op, h.Ours)
		if err := describes(document, op, body.(string)); err != nil {
			t.Errorf("%s: the document refuses %s: %v", op.ID, body, firstLine(err))
		}
	})
}

// unsaid has the members whose rule no regular expression can express: an emoji, a condition, and any text that is not
// a private key.
var unsaid = []string{"addedReactions.[] pattern", "changes.[].condition pattern", "certificate pattern"}

// TestTheDocumentRefusesBadInput checks that the OpenAPI document refuses the bad input of
// TestBadInputOfEveryOperation.
func TestTheDocumentRefusesBadInput(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	document := servedDocument(h)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		_, body := h.Example(op, h.Ours)
		if _, isForm := body.(apitest.Form); isForm {
			return
		}
		for _, b := range badMembers(t, op) {
			var valid any
			if err := json.Unmarshal([]byte(body.(string)), &valid); err != nil {
				t.Fatal(err)
			}
			spoiled, err := json.Marshal(put(valid, b.path, b.value))
			if err != nil {
				t.Fatal(err)
			}
			if describes(document, op, string(spoiled)) == nil && !slices.Contains(unsaid, strings.Join(b.path, ".")+" "+b.why) {
				t.Errorf("%s: the document takes %s that is %s: %.80v", op.ID, strings.Join(b.path, "."), b.why, b.value)
			}
		}
	})
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
