package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// bodyDescribed is a request type whose body the function reads by itself, and which says what it looks like.
type bodyDescribed interface {
	OpenAPIBody() dict
}

// openAPI is the OpenAPI 3.1 document of the table, as JSON. It says of requests what their rules say, and of answers what
// their types say; nothing in it is written by hand.
func openAPI(table Table, baseURL string) ([]byte, error) {
	words, err := table.Vocabulary()
	if err != nil {
		return nil, err
	}
	d := &openAPIWriter{words: words, schemas: dict{}, types: map[string]reflect.Type{}}
	paths := dict{}
	for i := range table.Operations {
		op := &table.Operations[i]
		item, ok := paths[op.Path].(dict)
		if !ok {
			item = dict{}
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
	document := dict{
		"openapi": "3.1.0",
		"info": dict{
			"title": "Octavo", "version": "v1", "license": dict{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Documentation sites: content, publishing, and insights. Compatible with the client @gitbook/api.",
		},
		"servers":  []any{dict{"url": strings.TrimRight(baseURL, "/") + "/v1"}},
		"security": []any{dict{"token": []any{}}},
		"paths":    paths,
		"components": dict{
			"schemas":         d.schemas,
			"securitySchemes": dict{"token": dict{"type": "http", "scheme": "bearer"}},
			"responses": dict{"Error": dict{
				"description": "The request was refused; `error.code` is the status.", "content": mediaOf("application/json", failure),
			}},
		},
	}
	return json.Marshal(document, json.Deterministic(true), jsontext.WithIndent("  "))
}

// openAPIWriter gathers the named schemas that operations refer to.
type openAPIWriter struct {
	words   Vocabulary
	schemas dict
	types   map[string]reflect.Type
	asked   bool // The members of a body are described: what answers always have, requests need not.
}

func mediaOf(media string, of dict) dict {
	return dict{media: dict{"schema": of}}
}

func (d *openAPIWriter) operation(op *Operation) (dict, error) {
	out := dict{"operationId": op.ID, "summary": op.Doc, "tags": []any{op.Tag}}
	if op.Scope.public {
		out["security"] = []any{}
	} else {
		out["description"] = "Who may: " + op.Scope.String() + "."
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
	refused := dict{"$ref": "#/components/responses/Error"}
	responses := dict{strconv.Itoa(op.Status): success, "default": refused}
	if op.Handler.Response.Implements(reflect.TypeFor[statused]()) { // It created what the path names, or changed it.
		created, err := d.success(op, http.StatusCreated)
		if err != nil {
			return nil, err
		}
		responses[strconv.Itoa(http.StatusCreated)] = created
	}
	for _, code := range refusals(op) {
		responses[strconv.Itoa(code)] = refused
	}
	out["responses"] = responses
	return out, nil
}

// refusals are the statuses that the frame itself refuses an operation with; functions add theirs, under `default`.
func refusals(op *Operation) []int {
	codes := []int{http.StatusBadRequest}
	if !op.Scope.public {
		codes = append(codes, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	if op.Scope.named != nil || op.Scope.object != nil && !op.Scope.orGone {
		codes = append(codes, http.StatusNotFound)
	}
	if op.BodyLimit > 0 {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return codes
}

// success describes an answer with one of the statuses of success that the operation has.
func (d *openAPIWriter) success(op *Operation, status int) (dict, error) {
	out := dict{"description": http.StatusText(status)}
	response := op.Handler.Response
	switch {
	case status == http.StatusNoContent:
		return out, nil
	case len(op.Produces) > 0:
		media := dict{}
		for _, produced := range op.Produces {
			maps.Copy(media, mediaOf(produced, dict{"type": "string", "format": "binary"}))
		}
		out["content"] = media
		return out, nil
	case response == reflect.TypeFor[Encoded]():
		out["content"] = mediaOf("application/json", dict{"type": "object"})
		return out, nil
	}
	of, err := d.typeSchema(response, rule{}, "")
	if err != nil {
		return nil, err
	}
	out["content"] = mediaOf("application/json", of)
	if status == http.StatusCreated && response.Implements(reflect.TypeFor[located]()) {
		out["headers"] = dict{"Location": dict{
			"description": "The address of what was created.", "schema": dict{"type": "string", "format": "uri"},
		}}
	}
	return out, nil
}

// request describes parameters and body. Parameters of the path that the function does not look at, because the scope did,
// are described from the path.
func (d *openAPIWriter) request(op *Operation) (params []any, body dict, err error) {
	described := map[string]bool{}
	add := func(name, in string, required bool, of dict) {
		described[in+name] = true
		params = append(params, dict{"name": name, "in": in, "required": required, "schema": of})
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
			r, err := d.words.parseRule(f.Tag.Get("rules"))
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
			for _, source := range paramSources {
				if name, ok := f.Tag.Lookup(source.tag); ok {
					add(name, source.tag, r.required || source.tag == "path", of)
				}
			}
		}
		return nil
	}
	if err := walk(op.Handler.Request); err != nil {
		return nil, nil, err
	}
	for _, name := range pathParam.FindAllStringSubmatch(op.Path, -1) {
		if !described["path"+name[1]] {
			add(name[1], "path", true, dict{"type": "string"})
		}
	}
	return params, body, nil
}

func (d *openAPIWriter) body(op *Operation, f reflect.StructField, tag string, r rule) (dict, error) {
	form, option, _ := strings.Cut(tag, ",")
	of := dict{"type": "object"}
	if form == "json" {
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
	contents := dict{}
	for _, media := range op.Accepts {
		contents[media] = dict{"schema": of}
	}
	return dict{"required": option != "optional", "content": contents}, nil
}
