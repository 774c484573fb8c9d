package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"reflect"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

const (
	mediaForm      = "application/x-www-form-urlencoded"
	mediaMultipart = "multipart/form-data"
)

// MediaForm is the media type of what a browser posts. Rows that mail programs call as well also accept "multipart/form-data".
var MediaForm = []string{mediaForm}

// fields are the values of a form by name, in the order sent. They alias the body.
type fields map[string][][]byte

// formMember binds one member of a form, as param does for parameters.
type formMember struct {
	name  string
	index int
	set   func(field reflect.Value, values [][]byte) string
}

// formMembers compiles a form's type: a struct of texts, numbers and booleans, whose names are in `json` tags like those of all
// bodies, so that rules and the OpenAPI document read them in one way.
func formMembers(t reflect.Type) ([]formMember, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a form is no %s", t)
	}
	var members []formMember
	for i := range t.NumField() {
		f := t.Field(i)
		name := rules.MemberName(f)
		if f.Anonymous || name == "" {
			return nil, fmt.Errorf("field %s of a form has no name of its own", f.Name)
		}
		set, err := setterOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		members = append(members, formMember{name: name, index: i, set: set})
	}
	return members, nil
}

// bindForm fills a form's type. Members that it does not know are ignored, as in other bodies.
func (p *bodyPlan) bindForm(field reflect.Value, contentType, body []byte) error {
	sent, err := readForm(contentType, body)
	if err != nil {
		return err
	}
	var details []schema.Detail
	for _, m := range p.form {
		values := sent[m.name]
		if len(values) == 0 {
			continue
		}
		problem := "is not valid text"
		if validText(values) {
			problem = m.set(field.Field(m.index), values)
		}
		if problem != "" {
			details = append(details, schema.Detail{Field: m.name, Problem: problem})
		}
	}
	if len(details) > 0 {
		return schema.InvalidAll(details)
	}
	return nil
}

func readForm(contentType, body []byte) (fields, error) {
	sent := fields{}
	if media, params, err := mime.ParseMediaType(string(contentType)); err == nil && media == mediaMultipart {
		return sent, sent.readMultipart(body, params["boundary"])
	}
	// The values alias these arguments, which are not pooled.
	args := &fasthttp.Args{}
	args.ParseBytes(body)
	for name, value := range args.All() {
		sent[string(name)] = append(sent[string(name)], value)
	}
	return sent, nil
}

// mostParts bounds the parts of a multipart form: each has headers, which cost more than their bytes.
const mostParts = 100

func (f fields) readMultipart(body []byte, boundary string) error {
	refusal := func(err error) error {
		return &schema.Error{Code: schema.CodeBadRequest, Message: "the body is not a valid form", Cause: err}
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for range mostParts {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refusal(err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return refusal(err)
		}
		f[part.FormName()] = append(f[part.FormName()], value)
	}
	return refusal(errors.New("too many parts"))
}
