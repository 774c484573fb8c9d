package frame

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// bindPlan defines how the fields of a request's type are filled from the HTTP request. New compiles it from the tags
// of the fields:
//
//	path:"siteId"            a parameter of the path
//	query:"limit"            a query parameter; a pointer stays nil without the parameter, and a slice holds several
//	                         values
//	header:"Idempotency-Key" a header
//	cookie:"octavo_sso"      a cookie; ignored if it is not valid text
//	hint:"User-Agent"        a header that clients do not choose; ignored if it is not valid text, or given twice
//	trusted:"X-Location-Country" a header of trusted proxies and front ends; ignored if it is not valid text
//	body:"json"              the body, decoded; with ",optional" it may be absent
//	body:"form"              the body that a browser posts, decoded; with ",optional" it may be absent
//	body:"raw"               the body as it is, without its encoding; invalid once the function has returned
//
// The fields of embedded structs are bound like the other fields. Every bound string is a copy.
type bindPlan struct {
	params []param
	body   bodyPlan
	rules  rules.Check
	op     *Operation
	words  rules.Vocabulary
}

type bodyPlan struct {
	index    []int
	raw      bool
	optional bool
	form     []formMember // form has the members of a form; it is nil for other bodies.
	lasting  []string     // lasting has the members that a PATCH cannot remove. See rules.RefuseNulls.
}

// param binds one field. `read` finds the field's values in the request. `set` stores the values in the field, and
// returns a problem or "". The problem is the end of a sentence that begins with the parameter's name.
type param struct {
	name  string
	index []int
	read  func(c *call, name string) [][]byte
	set   func(field reflect.Value, values [][]byte) string
	// inPath means that the parameter is in the path. A value that is not valid text is then answered with 404. In
	// other places, it is answered with 400.
	inPath bool
}

func newBindPlan(op *Operation, words rules.Vocabulary) (*bindPlan, error) {
	plan := &bindPlan{op: op, words: words}
	if op.Handler.Request.Kind() != reflect.Struct {
		return nil, fmt.Errorf("request type %s is not a struct", op.Handler.Request)
	}
	if err := plan.add(op.Handler.Request, nil); err != nil {
		return nil, err
	}
	for _, p := range plan.params {
		if p.inPath && !strings.Contains(op.Path, "{"+p.name+"}") {
			return nil, fmt.Errorf("request type binds %q, which is not in the path", p.name)
		}
	}
	rules, err := words.Struct(op.Handler.Request)
	if err != nil {
		return nil, err
	}
	plan.rules = rules
	if op.Scope.Named != nil && (plan.body.index == nil || plan.body.raw || plan.body.form != nil || plan.body.optional) {
		return nil, errors.New("the scope's object is named by a body that need not be there or is not decoded")
	}
	return plan, nil
}

// validate applies the rules of the request's type. If the request breaks no rule, it calls the type's method Validate.
func (p *bindPlan) validate(req any, c *rules.Checker) error {
	p.rules(c, "", reflect.ValueOf(req).Elem())
	if v, ok := req.(validator); ok && len(c.Details) == 0 {
		c.Details = v.Validate()
	}
	if len(c.Details) > 0 {
		return schema.InvalidAll(c.Details)
	}
	return nil
}

func (p *bindPlan) add(t reflect.Type, at []int) error {
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(append([]int(nil), at...), i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			if err := p.add(field.Type, index); err != nil {
				return err
			}
			continue
		}
		if tag, ok := field.Tag.Lookup("body"); ok {
			if err := p.addBody(tag, field.Type, index); err != nil {
				return fmt.Errorf("field %s: %w", field.Name, err)
			}
			continue
		}
		found := false
		for _, source := range ParamSources {
			name, ok := field.Tag.Lookup(source.Tag)
			if !ok {
				continue
			}
			set, err := setterOf(field.Type)
			if err != nil {
				return fmt.Errorf("field %s: %w", field.Name, err)
			}
			p.params = append(p.params, param{
				name: name, index: index, read: source.read, set: set, inPath: source.Tag == "path",
			})
			found = true
		}
		if !found {
			return fmt.Errorf("field %s does not say where its value comes from", field.Name)
		}
	}
	return nil
}

func (p *bindPlan) addBody(tag string, t reflect.Type, index []int) error {
	form, option, _ := strings.Cut(tag, ",")
	if p.body.index != nil {
		return errors.New("a request has one body")
	}
	p.body = bodyPlan{index: index, raw: form == "raw", optional: option == "optional"}
	if form == "form" {
		members, err := formMembers(t)
		p.body.form = members
		return err
	}
	if form != "json" && form != "raw" || p.body.raw && t != reflect.TypeFor[[]byte]() {
		return fmt.Errorf("cannot bind a body as %q into %s", tag, t)
	}
	if p.op.Method == http.MethodPatch {
		p.body.lasting = p.words.Lasting(t)
	}
	return nil
}

// paramSource is a part of the request that can contain parameters. It has the tag of the struct fields that are read
// from this part. The values that `read` returns alias the request.
type paramSource struct {
	Tag  string
	In   string // In is the parameter's place in the OpenAPI document.
	read func(c *call, name string) [][]byte
}

var ParamSources = []paramSource{
	{"path", "path", func(c *call, name string) [][]byte {
		value, ok := unescapePath(c.PathParam(name))
		if !ok {
			// This byte is invalid text, so bind answers 404.
			return [][]byte{{0xff}}
		}
		return [][]byte{value}
	}},
	{"query", "query", func(c *call, name string) [][]byte { return c.http.QueryArgs().PeekMulti(name) }},
	{"header", "header", func(c *call, name string) [][]byte { return c.http.Request.Header.PeekAll(name) }},
	{"cookie", "cookie", func(c *call, name string) [][]byte {
		value := [][]byte{c.http.Request.Header.Cookie(name)}
		if len(value[0]) == 0 || !validText(value) {
			return nil
		}
		return value
	}},
	{"hint", "header", hint},
	{"trusted", "header", func(c *call, name string) [][]byte {
		if !c.trusted {
			return nil
		}
		return hint(c, name)
	}},
}

func hint(c *call, name string) [][]byte {
	values := c.http.Request.Header.PeekAll(name)
	if len(values) != 1 || !validText(values) {
		return nil
	}
	return values
}

// bind fills the value of the request's type. If parameters are invalid, it returns one error about all of them, and
// does not read the body.
func (p *bindPlan) bind(ctx context.Context, req reflect.Value, c *call) error {
	var details []schema.Detail
	for i := range p.params {
		param := &p.params[i]
		values := param.read(c, param.name)
		if len(values) == 0 {
			continue
		}
		if !validText(values) {
			if param.inPath {
				return schema.NotFound("object")
			}
			details = append(details, schema.Detail{Field: param.name, Problem: "is not valid text"})
			continue
		}
		if problem := param.set(req.FieldByIndex(param.index), values); problem != "" {
			details = append(details, schema.Detail{Field: param.name, Problem: problem})
		}
	}
	if len(details) > 0 {
		return schema.InvalidAll(details)
	}
	if p.body.index == nil {
		return nil
	}
	return p.bindBody(ctx, req.FieldByIndex(p.body.index), c)
}

func (p *bindPlan) bindBody(ctx context.Context, field reflect.Value, c *call) error {
	body, err := c.readBody(ctx, p.op)
	if err != nil {
		return err
	}
	// A form with an empty body is decoded, so that the rules report the missing members.
	if len(body) == 0 && (p.body.form == nil || p.body.optional) {
		if p.body.optional {
			return nil
		}
		return schema.BadRequest("a body is required")
	}
	if p.body.raw {
		field.SetBytes(body)
		return nil
	}
	if p.body.form != nil {
		return p.body.bindForm(field, body)
	}
	if p.op.Scope.Named != nil {
		if err := c.frame.authorizeNamed(ctx, p.op.Scope, c, body); err != nil {
			return err
		}
	}
	err = readJSON(body, field.Addr().Interface(), json.RejectUnknownMembers(p.op.Strict))
	if err == nil && p.op.Scope.Members != nil && c.Principal.Integration != "" {
		err = rules.EachMember(body, func(name string, _ jsontext.Kind) error {
			return p.op.Scope.AdmitMember(c.Principal, name)
		})
	}
	if err == nil && p.body.lasting != nil {
		err = rules.RefuseNulls(body, p.body.lasting)
	}
	return err
}

// scalarSetters has a row for each kind of field with a single value.
var scalarSetters = map[reflect.Kind]func(field reflect.Value, text string) string{
	reflect.String: func(field reflect.Value, text string) string { field.SetString(text); return "" },
	reflect.Bool:   setBool,
	reflect.Int:    setInt,
}

// setterOf returns the function that sets a field of this type.
func setterOf(t reflect.Type) (func(field reflect.Value, values [][]byte) string, error) {
	if set, ok := scalarSetters[t.Kind()]; ok {
		return single(set), nil
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String {
		return setStrings, nil
	}
	if t.Kind() == reflect.Pointer {
		if set, ok := scalarSetters[t.Elem().Kind()]; ok {
			return single(func(field reflect.Value, text string) string {
				value := reflect.New(t.Elem())
				problem := set(value.Elem(), text)
				if problem == "" {
					field.Set(value)
				}
				return problem
			}), nil
		}
	}
	return nil, fmt.Errorf("cannot bind a parameter into %s", t)
}

func single(set func(field reflect.Value, text string) string) func(reflect.Value, [][]byte) string {
	return func(field reflect.Value, values [][]byte) string {
		if len(values) > 1 {
			return "is given more than once"
		}
		return set(field, string(values[0]))
	}
}

func setBool(field reflect.Value, text string) string {
	if text != "true" && text != "false" {
		return "must be true or false"
	}
	field.SetBool(text == "true")
	return ""
}

func setInt(field reflect.Value, text string) string {
	value, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' {
		return "must be an integer"
	}
	field.SetInt(int64(value))
	return ""
}

// setStrings accepts both a repeated parameter and a comma-separated list, because clients send either form.
func setStrings(field reflect.Value, values [][]byte) string {
	var all []string
	for _, value := range values {
		all = append(all, strings.Split(string(value), ",")...)
	}
	field.Set(reflect.ValueOf(all).Convert(field.Type()))
	return ""
}

func validText(values [][]byte) bool {
	for _, value := range values {
		if !utf8.Valid(value) {
			return false
		}
		for _, c := range value {
			if c == 0 {
				return false
			}
		}
	}
	return true
}

// unescapePath decodes one segment of a path. The router matches escaped paths, so an escaped slash stays in its
// segment.
func unescapePath(segment string) ([]byte, bool) {
	if !strings.Contains(segment, "%") {
		return []byte(segment), true
	}
	decoded := make([]byte, 0, len(segment))
	for i := 0; i < len(segment); i++ {
		if segment[i] != '%' {
			decoded = append(decoded, segment[i])
			continue
		}
		if i+2 >= len(segment) {
			return nil, false
		}
		value, err := strconv.ParseUint(segment[i+1:i+3], 16, 8)
		if err != nil {
			return nil, false
		}
		decoded = append(decoded, byte(value))
		i += 2
	}
	return decoded, true
}
