package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// bad is an invalid value for a member.
type bad struct {
	path  []string // Member names. "[]" is an entry of an array, "{}" of a map.
	value any
	why   string
}

// TestBadInputOfEveryOperation derives bad values from the types and rules of every request: wrong types, values out of
// bounds, values outside of an enum or pattern, and missing required members. The API answers each bad value with 400
// and an error that names the member. It stores nothing.
func TestBadInputOfEveryOperation(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		path, body := h.Example(op, h.Ours)
		before := h.Rows()
		for _, b := range badParams(t, op) {
			separator := "?"
			if strings.Contains(path, "?") {
				separator = "&"
			}
			a := h.Do(op.Method, path+separator+b.path[0]+"="+url.QueryEscape(b.value.(string)), admin, body)
			wantNamed(h, op, b, a)
		}
		for _, b := range badMembers(t, op) {
			spoiled, possible := spoil(t, body, b)
			if !possible {
				continue
			}
			wantNamed(h, op, b, h.Do(op.Method, path, admin, spoiled))
		}
		if diff := cmp.Diff(before, h.Rows()); diff != "" {
			t.Errorf("%s: bad input is stored: %s", op.ID, diff)
		}
	})
}

// spoil puts a bad value into an example's body. A form can contain only texts. So `possible` is false if the body is a
// form and the value is not a text.
func spoil(t testing.TB, body any, b bad) (spoiled any, possible bool) {
	t.Helper()
	form, isForm := body.(apitest.Form)
	if !isForm {
		var valid any
		if err := json.Unmarshal([]byte(body.(string)), &valid); err != nil {
			t.Fatalf("example %s: %v", body, err)
		}
		return put(valid, b.path, b.value), true
	}
	values, err := url.ParseQuery(form.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.path) != 1 {
		return nil, false
	}
	switch value := b.value.(type) {
	case missing:
		values.Del(b.path[0])
	case string:
		values.Set(b.path[0], value)
	default:
		return nil, false
	}
	return apitest.Form{Body: values.Encode(), Cookie: form.Cookie}, true
}

// missing is a special value of bad.value. It makes `spoil` remove the member from the body, so that the test sends a
// request without a required member.
type missing struct{}

func wantNamed(h *apitest.Harness, op *frame.Operation, b bad, a apitest.Answer) {
	h.T.Helper()
	name := fmt.Sprintf("%s: %s %s (%.40v)", op.ID, strings.Join(b.path, "."), b.why, b.value)
	if op.Handler.Response == reflect.TypeFor[frame.Pixel]() { // Refusals of this operation are images.
		if a.Header.Get("Content-Type") != "image/gif" || len(h.Intake.Doors) > 0 {
			h.T.Errorf("%s: %d %v, and the intake has %v", name, a.Status, a.Header, h.Intake.Doors)
		}
		return
	}
	if a.Status != http.StatusBadRequest {
		h.T.Errorf("%s: %d %s", name, a.Status, a.Body)
		return
	}
	e := h.WantError(a, http.StatusBadRequest)
	// If the bad value is inside a union, the error may name the union instead of the member.
	first := ""
	if len(b.path) > 0 {
		first = strings.Replace(b.path[0], "[]", "[0]", 1)
	}
	if !slices.ContainsFunc(e.Details, func(d schema.Detail) bool { return strings.HasPrefix(d.Field, first) }) {
		h.T.Errorf("%s: no detail names the member: %s", name, a.Body)
	}
	for _, word := range []string{"SQLSTATE", "constraint", "violates", "pgx", "goroutine"} {
		if strings.Contains(string(a.Body), word) {
			h.T.Errorf("%s: %s", name, a.Body)
		}
	}
}

// put sets the value at a path. It creates the objects of the path that do not exist.
func put(at any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch path[0] {
	case "[]":
		// The new array has only the entry with the value. The rest of this entry comes from the example's first entry,
		// so that only the value is bad.
		if entries, ok := at.([]any); ok && len(entries) > 0 {
			at = entries[0]
		} else if ok {
			at = nil
		}
		return []any{put(at, path[1:], value)}
	case "{}":
		return map[string]any{"en": put(nil, path[1:], value)}
	}
	members, ok := at.(map[string]any)
	if !ok {
		members = map[string]any{}
	}
	if _, gone := value.(missing); gone && len(path) == 1 {
		delete(members, path[0])
	} else {
		members[path[0]] = put(members[path[0]], path[1:], value)
	}
	return members
}

func badParams(t testing.TB, op *frame.Operation) []bad {
	t.Helper()
	var all []bad
	var walk func(reflect.Type)
	walk = func(request reflect.Type) {
		for i := range request.NumField() {
			f := request.Field(i)
			name, ok := f.Tag.Lookup("query")
			switch {
			case f.Anonymous:
				walk(f.Type)
			case ok:
				for _, b := range badValues(t, f.Type, mustRule(t, f.Tag.Get("rules")), f.Tag) {
					if text, isText := b.value.(string); isText && len(b.path) <= 1 && b.why != "wrong type" {
						all = append(all, bad{[]string{name}, text, b.why})
					}
				}
				if k := pointee(f.Type).Kind(); k == reflect.Bool || k == reflect.Int {
					all = append(all, bad{[]string{name}, "neither", "wrong type"})
				}
			}
		}
	}
	walk(op.Handler.Request)
	return all
}

func badMembers(t testing.TB, op *frame.Operation) []bad {
	t.Helper()
	for i := range op.Handler.Request.NumField() {
		if f := op.Handler.Request.Field(i); f.Tag.Get("body") != "" && f.Type.Kind() == reflect.Struct {
			all := badValues(t, f.Type, mustRule(t, f.Tag.Get("rules")), f.Tag)
			if op.Method == http.MethodPatch {
				all = append(all, badRemovals(t, f.Type)...)
			}
			return all
		}
	}
	return nil
}

// badRemovals returns a null for each member that a PATCH cannot remove.
func badRemovals(t testing.TB, body reflect.Type) []bad {
	t.Helper()
	all := []bad{}
	for _, f := range reflect.VisibleFields(body) {
		if name := f.Tag.Get("json"); name != "" && !rules.IsOpt(f.Type) {
			all = append(all, bad{[]string{name}, nil, "cannot be removed"})
		}
	}
	return all
}

// words defines the names that rules may use.
var words, _ = api.Table().Vocabulary()

func mustRule(t testing.TB, tag string) rules.Rule {
	t.Helper()
	r, err := words.Parse(tag)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// badValues returns values that violate a member's type or rule. The path of each value begins below the member.
func badValues(t testing.TB, of reflect.Type, r rules.Rule, tag reflect.StructTag) []bad {
	t.Helper()
	if reflect.PointerTo(of).Implements(reflect.TypeFor[rules.ProblemFinder]()) && of.Kind() != reflect.Pointer {
		return []bad{{nil, true, "wrong type"}}
	}
	switch {
	case of.Kind() == reflect.Pointer:
		return badValues(t, of.Elem(), r, tag)
	case rules.IsOpt(of):
		return badValues(t, of.Field(1).Type.Elem(), r, tag)
	case of == reflect.TypeFor[time.Time]():
		return []bad{{nil, 7, "wrong type"}, {nil, "yesterday", "form"}}
	case of.Implements(reflect.TypeFor[rules.EitherForm]()):
		return badOneOrMany(t, of, r)
	case of.Kind() == reflect.Struct && isTextOrObject(of):
		return badTextOrObject(t, of)
	case of.Kind() == reflect.Struct:
		return badStruct(t, of)
	case of == reflect.TypeFor[jsontext.Value](): // The value is any JSON; only the operation has rules for it.
		return nil
	case of.Kind() == reflect.Slice:
		all := []bad{{nil, "x", "wrong type"}}
		if r.Length != nil && r.Length.Most != nil {
			all = append(all, bad{nil, slices.Repeat([]any{"x"}, *r.Length.Most+1), "too many"})
		}
		if r.Length != nil && r.Length.Least != nil && *r.Length.Least > 0 {
			all = append(all, bad{nil, []any{}, "too few"})
		}
		for _, b := range badValues(t, of.Elem(), mustRule(t, tag.Get("each")), "") {
			all = append(all, bad{append([]string{"[]"}, b.path...), b.value, b.why})
		}
		return all
	case of.Kind() == reflect.Map:
		all := []bad{{nil, "x", "wrong type"}}
		for _, b := range badValues(t, of.Elem(), mustRule(t, tag.Get("each")), "") {
			all = append(all, bad{append([]string{"{}"}, b.path...), b.value, b.why})
		}
		return all
	}
	return badScalar(t, of, r)
}

func badStruct(t testing.TB, of reflect.Type) []bad {
	t.Helper()
	all := []bad{{nil, "x", "wrong type"}}
	for i := range of.NumField() {
		f := of.Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Tag.Get("json") == "" {
			all = append(all, badStruct(t, pointee(f.Type))...)
			continue
		}
		r := mustRule(t, f.Tag.Get("rules"))
		values := badValues(t, f.Type, r, f.Tag)
		if r.Required {
			values = append(values, bad{nil, missing{}, "required"})
			// In a schema.Opt, null is a valid value. For example, a guest's role is null.
			if !rules.IsOpt(f.Type) {
				values = append(values, bad{nil, nil, "required"})
			}
		}
		for _, b := range values {
			all = append(all, bad{append([]string{rules.MemberName(f)}, b.path...), b.value, b.why})
		}
	}
	return all
}

// badOneOrMany returns bad values for a member that is an object or an array of such objects. Each bad value is in a
// single object and in an entry of an array.
func badOneOrMany(t testing.TB, of reflect.Type, r rules.Rule) []bad {
	t.Helper()
	entry := of.Field(0).Type.Elem()
	all := badValues(t, entry, rules.Rule{}, "")
	for _, b := range badValues(t, entry, rules.Rule{}, "") {
		all = append(all, bad{append([]string{"[]"}, b.path...), b.value, b.why})
	}
	if r.Length != nil && r.Length.Most != nil {
		all = append(all, bad{nil, slices.Repeat([]any{map[string]any{}}, *r.Length.Most+1), "too many"})
	}
	return all
}

// isTextOrObject reports whether a struct is encoded in JSON as the value of one of its fields. The fields of such a
// struct have no names in JSON.
func isTextOrObject(of reflect.Type) bool {
	return of.NumField() > 0 && of.Field(0).IsExported() && !of.Field(0).Anonymous && rules.MemberName(of.Field(0)) == ""
}

// badTextOrObject returns bad values for a member that is a text or an object. A text in place of the object is not a
// bad value, because the member may be a text.
func badTextOrObject(t testing.TB, of reflect.Type) []bad {
	t.Helper()
	var all []bad
	for i := range of.NumField() {
		f := of.Field(i)
		for _, b := range badValues(t, f.Type, mustRule(t, f.Tag.Get("rules")), f.Tag) {
			if _, isText := b.value.(string); !isText || len(b.path) > 0 || b.why != "wrong type" {
				all = append(all, b)
			}
		}
	}
	return all
}

func badScalar(t testing.TB, of reflect.Type, r rules.Rule) []bad {
	t.Helper()
	var all []bad
	add := func(value any, why string) { all = append(all, bad{nil, value, why}) }
	switch of.Kind() {
	case reflect.String:
		add(7, "wrong type")
		add([]any{}, "wrong type")
		if r.Length != nil && r.Length.Most != nil {
			add(strings.Repeat("x", *r.Length.Most+1), "too long")
		}
		if r.Length != nil && r.Length.Least != nil && *r.Length.Least > 0 {
			add(strings.Repeat("x", *r.Length.Least-1), "too short")
		}
		if r.Enum != "" {
			add("no-such-value", "enumeration")
		}
		if r.Pattern != "" {
			add(misfit(t, r), "pattern")
			for _, address := range withLogin(r) {
				add(address, "login data")
			}
		}
		add("a\x00b", "U+0000")
	case reflect.Bool:
		add("true", "wrong type")
	case reflect.Int, reflect.Int64, reflect.Float64:
		add("1", "wrong type")
		if r.Span != nil && r.Span.Most != nil {
			add(*r.Span.Most+1, "too high")
			add(fmt.Sprint(*r.Span.Most+1), "too high")
		}
		if r.Span != nil && r.Span.Least != nil {
			add(*r.Span.Least-1, "too low")
			add(fmt.Sprint(*r.Span.Least-1), "too low")
		}
	default: // Requests have no other scalar kinds, because package rules refuses them.
	}
	return all
}

// withLogin returns addresses with a user or a password, if the rule's pattern is for addresses. An address of a
// repository may have a password, because it is encrypted and never shown.
func withLogin(r rules.Rule) []string {
	if r.Pattern == "repositoryURL" || r.Form.Match("javascript:x") || !r.Form.Match("https://a.example/") {
		return nil
	}
	return []string{
		"https://me:x@a.example/",
		"http://me@a.example",
		"HTTPS://me:x@a.example",
		`https:\\me:x@a.example`,
	}
}

// misfit returns a text that does not match the rule's pattern and whose length is within the rule's bounds.
func misfit(t testing.TB, r rules.Rule) string {
	t.Helper()
	for _, text := range []string{
		"§§§§", "x", "    ", "a\nb", "/a//b/", "::::", "%%%%", "-----BEGIN PRIVATE KEY-----", "javascript:x",
		"a\x07b",
	} {
		if !r.Form.Match(text) && r.Length.Outside(len([]rune(text)), "") == "" {
			return text
		}
	}
	t.Fatalf("every text has the form %q", r.Pattern)
	return ""
}

// pointee returns the type that a pointer type points to, or the type itself.
func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
