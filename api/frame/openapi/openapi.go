package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// bodyDescribed is a request type whose function reads the body itself, and which describes that body.
type bodyDescribed interface {
	OpenAPIBody() jsonschema.Dict
}

// answerDescribed is a request type whose function encodes the answer itself, and which describes that answer.
type answerDescribed interface {
	OpenAPIAnswer() jsonschema.Dict
}

// headersDescribed is a request type that describes the additional headers of its answer.
type headersDescribed interface {
	OpenAPIHeaders() jsonschema.Dict
}

// Document returns the OpenAPI 3.1 document of a table of operations, as JSON. It derives requests from their rules and
// answers from their types. No part is written by hand.
func Document(table frame.Table, baseURL string) ([]byte, error) {
	words, err := table.Vocabulary()
	if err != nil {
		return nil, err
	}
	d := &writer{words: words, schemas: jsonschema.Dict{}, types: map[string]reflect.Type{}}
	paths := jsonschema.Dict{}
	for i := range table.Operations {
		op := &table.Operations[i]
		item, ok := paths[op.Path].(jsonschema.Dict)
		if !ok {
			item = jsonschema.Dict{}
			if op.Root {
				item["servers"] = []any{jsonschema.Dict{"url": cmp.Or(strings.TrimRight(baseURL, "/"), "/")}}
			}
			paths[op.Path] = item
		}
		described, err := d.operation(op)
		if err != nil {
			return nil, fmt.Errorf("operation %q: %w", op.ID, err)
		}
		item[strings.ToLower(op.Method)] = described
	}
	failure, err := d.ref(reflect.TypeFor[schema.ErrorBody]())
	if err != nil {
		return nil, err
	}
	document := jsonschema.Dict{
		"openapi": "3.1.0",
		"info": jsonschema.Dict{
			"title": "Octavo", "version": "v1", "license": jsonschema.Dict{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Documentation sites: content, publishing, and insights. Compatible with the client @gitbook/api.",
		},
		"servers":  []any{jsonschema.Dict{"url": strings.TrimRight(baseURL, "/") + "/v1"}},
		"security": []any{jsonschema.Dict{"token": []any{}}},
		"paths":    paths,
		"components": jsonschema.Dict{
			"schemas":         d.schemas,
			"securitySchemes": jsonschema.Dict{"token": jsonschema.Dict{"type": "http", "scheme": "bearer"}},
			"responses": jsonschema.Dict{"Error": jsonschema.Dict{
				"description": "The request was refused; `error.code` is the status.", "content": mediaOf("application/json", failure),
			}},
		},
	}
	return json.Marshal(document, json.Deterministic(true), jsontext.WithIndent("  "))
}

// writer makes the parts of the document, and collects the named schemas to which operations refer.
type writer struct {
	words   rules.Vocabulary
	schemas jsonschema.Dict
	types   map[string]reflect.Type
	asked   bool // asked is true in a request body. There, members that are always in answers are optional.
}

func mediaOf(media string, of jsonschema.Dict) jsonschema.Dict {
	return jsonschema.Dict{media: jsonschema.Dict{"schema": of}}
}

func (d *writer) operation(op *frame.Operation) (jsonschema.Dict, error) {
	out := jsonschema.Dict{"operationId": op.ID, "summary": op.Doc, "tags": []any{op.Tag}}
	if op.Scope.Public {
		out["security"] = []any{}
	} else {
		out["description"] = "Who may: " + op.Scope.String() + "."
		if op.Scope.Nobody {
			out["security"] = []any{jsonschema.Dict{"token": []any{}}, jsonschema.Dict{}}
		}
	}
	params, body, err := d.request(op)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		out["parameters"] = params
	}
	if body != nil {
		out["requestBody"] = body
	}
	success, err := d.success(op, op.Status)
	if err != nil {
		return nil, err
	}
	refused := jsonschema.Dict{"$ref": "#/components/responses/Error"}
	responses := jsonschema.Dict{strconv.Itoa(op.Status): success, "default": refused}
	// A Statused response has a second success status: 201 if the operation has created the object.
	if op.Handler.Response.Implements(reflect.TypeFor[frame.Statused]()) {
		created, err := d.success(op, http.StatusCreated)
		if err != nil {
			return nil, err
		}
		responses[strconv.Itoa(http.StatusCreated)] = created
	}
	if op.Redirects {
		responses[strconv.Itoa(http.StatusSeeOther)] = redirect(http.StatusSeeOther)
	}
	if op.Conditional {
		params = append(params, jsonschema.Dict{"name": "If-None-Match", "in": "header", "required": false, "schema": jsonschema.Text()})
		out["parameters"] = params
		tag := jsonschema.Dict{"ETag": jsonschema.Dict{"description": "Stands for the answer's body.", "schema": jsonschema.Text()}}
		success["headers"] = tag
		responses[strconv.Itoa(http.StatusNotModified)] = jsonschema.Dict{"description": "The answer is the one that If-None-Match stands for.", "headers": tag}
	}
	for _, code := range refusals(op) {
		responses[strconv.Itoa(code)] = refused
	}
	if op.Handler.Response == reflect.TypeFor[frame.Pixel]() { // The image is also the answer to refused requests.
		responses = jsonschema.Dict{strconv.Itoa(op.Status): success, "default": success}
	}
	out["responses"] = responses
	return out, nil
}

// refusals returns the error statuses that the frame itself answers for an operation. `default` describes the errors
// that the operation's function returns.
func refusals(op *frame.Operation) []int {
	codes := []int{http.StatusBadRequest, http.StatusTooManyRequests}
	if !op.Scope.Public {
		codes = append(codes, http.StatusUnauthorized, http.StatusForbidden)
	}
	if op.Scope.Named != nil || op.Scope.Object != nil && !op.Scope.OrGone {
		codes = append(codes, http.StatusNotFound)
	}
	if op.BodyLimit > 0 {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return codes
}

// success describes the answer for one of the operation's success statuses.
func (d *writer) success(op *frame.Operation, status int) (jsonschema.Dict, error) {
	out := jsonschema.Dict{"description": http.StatusText(status)}
	response := op.Handler.Response
	switch {
	case status == http.StatusNoContent:
		if d, ok := reflect.New(op.Handler.Request).Interface().(headersDescribed); ok {
			out["headers"] = d.OpenAPIHeaders()
		}
		return out, nil
	case response == reflect.TypeFor[frame.Redirect]():
		return redirect(status), nil
	case response == reflect.TypeFor[frame.Page]():
		out["content"] = mediaOf("text/html", jsonschema.Dict{"type": "string"})
		return out, nil
	case len(op.Produces) > 0:
		media := jsonschema.Dict{}
		for _, produced := range op.Produces {
			maps.Copy(media, mediaOf(produced, jsonschema.Dict{"type": "string", "format": "binary"}))
		}
		out["content"] = media
		return out, nil
	case response == reflect.TypeFor[frame.Encoded]():
		of := jsonschema.Dict{"type": "object"}
		if d, ok := reflect.New(op.Handler.Request).Interface().(answerDescribed); ok {
			of = d.OpenAPIAnswer()
		}
		out["content"] = mediaOf("application/json", of)
		return out, nil
	}
	of, err := d.typeSchema(response, rules.Rule{}, "")
	if err != nil {
		return nil, err
	}
	out["content"] = mediaOf("application/json", of)
	if status == http.StatusCreated && response.Implements(reflect.TypeFor[frame.Located]()) {
		out["headers"] = jsonschema.Dict{"Location": jsonschema.Dict{
			"description": "The address of what was created.", "schema": jsonschema.Dict{"type": "string", "format": "uri"},
		}}
	}
	return out, nil
}

func redirect(status int) jsonschema.Dict {
	return jsonschema.Dict{"description": http.StatusText(status), "headers": jsonschema.Dict{"Location": jsonschema.Dict{
		"description": "Where the browser goes next.", "schema": jsonschema.Dict{"type": "string", "format": "uri"},
	}}}
}

// request describes the parameters and the body. A path parameter that the request type does not have is described as a
// string.
func (d *writer) request(op *frame.Operation) (params []any, body jsonschema.Dict, err error) {
	described := map[string]bool{}
	add := func(name, in string, required bool, of jsonschema.Dict) {
		described[in+name] = true
		params = append(params, jsonschema.Dict{"name": name, "in": in, "required": required, "schema": of})
	}
	var walk func(t reflect.Type) error
	walk = func(t reflect.Type) error {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous {
				if err := walk(f.Type); err != nil {
					return err
				}
				continue
			}
			r, err := d.words.Parse(f.Tag.Get("rules"))
			if err != nil {
				return err
			}
			if tag, ok := f.Tag.Lookup("body"); ok {
				body, err = d.body(op, f, tag, r)
				if err != nil {
					return err
				}
				continue
			}
			of, err := d.typeSchema(f.Type, r, f.Tag)
			if err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
			for _, source := range frame.ParamSources {
				if name, ok := f.Tag.Lookup(source.Tag); ok {
					add(name, source.In, r.Required || source.Tag == "path", of)
				}
			}
		}
		return nil
	}
	if err := walk(op.Handler.Request); err != nil {
		return nil, nil, err
	}
	for _, name := range frame.PathParam.FindAllStringSubmatch(op.Path, -1) {
		if !described["path"+name[1]] {
			add(name[1], "path", true, jsonschema.Dict{"type": "string"})
		}
	}
	return params, body, nil
}

func (d *writer) body(op *frame.Operation, f reflect.StructField, tag string, r rules.Rule) (jsonschema.Dict, error) {
	form, option, _ := strings.Cut(tag, ",")
	of := jsonschema.Dict{"type": "object"}
	if form == "json" || form == "form" {
		d.asked = true
		described, err := d.typeSchema(f.Type, r, f.Tag)
		d.asked = false
		if err != nil {
			return nil, err
		}
		of = described
	} else if d, ok := reflect.New(op.Handler.Request).Interface().(bodyDescribed); ok {
		of = d.OpenAPIBody()
	}
	contents := jsonschema.Dict{}
	for _, media := range op.Accepts {
		contents[media] = jsonschema.Dict{"schema": of}
	}
	return jsonschema.Dict{"required": option != "optional", "content": contents}, nil
}
