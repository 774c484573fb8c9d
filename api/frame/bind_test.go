package frame

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

type fuzzRequest struct {
	schema.PageRequest
	Path   string   `path:"name"`
	Flag   *bool    `query:"flag"`
	List   []string `query:"list"`
	Header string   `header:"X-Fuzz"`
	Body   struct {
		Text   *string  `json:"text"`
		Number int      `json:"number"`
		Float  float64  `json:"float"`
		Flag   bool     `json:"flag"`
		List   []string `json:"list"`
		Inner  *struct {
			Map map[string]int `json:"map"`
		} `json:"inner"`
	} `body:"json,optional"`
}

// FuzzBind sends arbitrary bytes as every part of a request. The request is bound, or the answer is 400 or 404 and
// names the cause. Because of its encoding, a body may also be answered with 413 or 415. `bind` never panics. Bound
// texts outside of JSON are valid and have no U+0000.
func FuzzBind(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `{"text":null,"number":1,"float":1e3,"flag":true,"list":["a"],"inner":{"map":{"a":1}}}`,
		`{"number":1.5}`, `{"number":1e400}`, `{"list":[1]}`, `{"inner":{"map":{"a":"b"}}}`, `{"text":"\ud800"}`, `{"text":"a","text":"b"}`,
		strings.Repeat(`[`, 20_000), `{"a":` + strings.Repeat(`{"a":`, 100), "{\"text\":\"\x00\"}", `{"text":"a"} x`,
	} {
		f.Add("name", "limit=5&flag=true&list=a&list=b", "header", "", []byte(body))
	}
	f.Add("%41%2f", "limit=%ff&flag=1", "\xff", "gzip", []byte{0x1f, 0x8b})
	f.Add("%", "page=%00&limit=-0", "", "zstd", []byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Add("a%zz", "limit=1&limit=1", "", "br", []byte("x"))
	f.Add("", "&&==&limit", "", "deflate", []byte{0x78, 0x9c})
	op := &Operation{Path: "/x/{name}", BodyLimit: 1 << 16, Accepts: MediaJSON, Handler: Handle(
		func(context.Context, *access.Caller, *fuzzRequest) (schema.User, error) { return schema.User{}, nil })}
	plan, err := newBindPlan(op, rules.Vocabulary{})
	if err != nil {
		f.Fatal(err)
	}
	memory := newBodyMemory(1<<20, bodyWait)
	f.Fuzz(func(t *testing.T, path, query, header, encoding string, sent []byte) {
		ctx := &fasthttp.RequestCtx{}
		ctx.SetUserValue("name", path)
		ctx.Request.URI().SetQueryString(query)
		ctx.Request.Header.Set("X-Fuzz", header)
		ctx.Request.Header.SetContentEncoding(encoding)
		ctx.Request.SetBody(sent)
		var req fuzzRequest
		c := &call{http: ctx, raw: body{memory: memory}, inflated: body{memory: memory}}
		err := plan.bind(t.Context(), reflect.ValueOf(&req).Elem(), c)
		c.inflated.release()
		if err == nil {
			for _, text := range append(req.List, req.Path, req.Page, req.Header) {
				if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
					t.Errorf("bound %q", text)
				}
			}
			return
		}
		e := schema.AsError(err)
		switch e.Code {
		case schema.CodeBadRequest, schema.CodeNotFound, schema.CodeTooLarge, schema.CodeUnsupportedMedia:
		default:
			t.Errorf("%v", err)
		}
		if !utf8.ValidString(e.Message) {
			t.Errorf("message %q", e.Message)
		}
	})
}

func TestJSONPathsReadLikePaths(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"": "", "/title": "title", "/events/3/location/url": "events[3].location.url", "/0/a": "[0].a", "/a~1b/~0c": "a/b.~c",
	} {
		if got := jsonPath(jsontext.Pointer(pointer)); got != want {
			t.Errorf("%s: %s, want %s", pointer, got, want)
		}
	}
}

func TestWrongTypesAreNamed(t *testing.T) {
	t.Parallel()
	var body struct {
		Text   string         `json:"text"`
		Number int            `json:"number"`
		Small  int8           `json:"small"`
		Float  float64        `json:"float"`
		Flag   bool           `json:"flag"`
		List   []string       `json:"list"`
		Inner  map[string]int `json:"inner"`
	}
	for text, want := range map[string]string{
		`{"text":1}`:             "text must be a string, got a number",
		`{"number":"1"}`:         "number must be an integer, got a string",
		`{"number":1.5}`:         "number must be an integer in range",
		`{"small":300}`:          "small must be an integer in range",
		`{"float":true}`:         "float must be a number, got a boolean",
		`{"flag":"true"}`:        "flag must be a boolean, got a string",
		`{"list":{}}`:            "list must be an array, got an object",
		`{"list":["a",[]]}`:      "list[1] must be a string, got an array",
		`{"inner":{"a":"b"}}`:    "inner.a must be an integer, got a string",
		`{"inner":[]}`:           "inner must be an object, got an array",
		`[]`:                     "the body must be an object, got an array",
		`{`:                      "the body ends before the JSON does",
		`{"text":"a","text":""}`: "text is given twice",
		`{"text":tru}`:           "text is not valid JSON at line 1, column 12",
		"{\"list\":[\n\"é\",]}":  "list is not valid JSON at line 2, column 4",
		"{\n\n  \"flag\" 1}":     "flag is not valid JSON at line 3, column 10",
	} {
		err := readJSON([]byte(text), &body)
		if e := schema.AsError(err); err == nil || e.Code != 400 || e.Message != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
