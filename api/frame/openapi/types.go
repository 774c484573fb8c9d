package openapi

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// selfDescribed is a type that describes its own JSON, because the JSON differs from its fields. Unions and documents
// are such types.
type selfDescribed interface {
	OpenAPISchema() map[string]any
}

// togetherDescribed is a type with a rule about several members. The keywords of this rule are added to the object's
// schema.
type togetherDescribed interface {
	OpenAPIKeywords() map[string]any
}

// wellKnown has a row for each type with a special JSON form.
var wellKnown = map[reflect.Type]func() jsonschema.Dict{
	reflect.TypeFor[time.Time]():      func() jsonschema.Dict { return jsonschema.Dict{"type": "string", "format": "date-time"} },
	reflect.TypeFor[jsontext.Value](): func() jsonschema.Dict { return jsonschema.Dict{} }, // Any JSON.
	reflect.TypeFor[schema.Role](): func() jsonschema.Dict {
		return jsonschema.Dict{"type": []any{"string", "null"}, "enum": append(jsonschema.AnyOf(schema.RoleNames()), nil)}
	},
	reflect.TypeFor[schema.Level](): func() jsonschema.Dict {
		return jsonschema.Dict{"type": []any{"string", "null"}, "enum": append(jsonschema.AnyOf(schema.LevelNames()), nil)}
	},
}

// typeSchema describes the JSON of a type under a rule.
func (d *writer) typeSchema(t reflect.Type, r rules.Rule, tag reflect.StructTag) (jsonschema.Dict, error) {
	if known, ok := wellKnown[t]; ok {
		return known(), nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[selfDescribed]()) && t.Kind() != reflect.Pointer {
		return reflect.New(t).Interface().(selfDescribed).OpenAPISchema(), nil
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return d.typeSchema(t.Elem(), r, tag)
	case rules.IsOpt(t):
		inner, err := d.typeSchema(t.Field(1).Type.Elem(), r, tag)
		return jsonschema.Dict{"anyOf": []any{inner, jsonschema.Dict{"type": "null"}}}, err
	case t.Implements(reflect.TypeFor[rules.EitherForm]()):
		items := t.Field(0).Type
		one, err := d.typeSchema(items.Elem(), rules.Rule{}, "")
		return jsonschema.Dict{"anyOf": []any{one, jsonschema.Dict{"type": "array", "items": one}}}, err
	case isUnion(t):
		return d.unionSchema(t)
	case t.Kind() == reflect.Struct:
		if t.Name() != "" {
			return d.ref(t)
		}
		return d.structSchema(t, r)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array:
		return d.manySchema(t, r, tag)
	}
	return scalarSchema(t, r)
}

// isUnion reports whether the type is a union: a value is encoded as the value of one of its fields, and the fields
// have no names in JSON.
func isUnion(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false
	}
	for f := range t.Fields() {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("json") != "" {
			return false
		}
	}
	return true
}

func (d *writer) unionSchema(t reflect.Type) (jsonschema.Dict, error) {
	var alternatives []any
	for f := range t.Fields() {
		rules, err := d.words.Parse(f.Tag.Get("rules"))
		if err != nil {
			return nil, err
		}
		of, err := d.typeSchema(f.Type, rules, f.Tag)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		alternatives = append(alternatives, of)
	}
	return jsonschema.Dict{"anyOf": alternatives}, nil
}

// ref returns a reference to the schema of a named type. It adds the schema at the first reference.
func (d *writer) ref(t reflect.Type) (jsonschema.Dict, error) {
	name := schemaName(t)
	if known, ok := d.types[name]; ok && known != t {
		return nil, fmt.Errorf("%s and %s would both be called %s", known, t, name)
	}
	if _, ok := d.types[name]; !ok {
		d.types[name] = t
		asked := d.asked
		d.asked = false // A named type may also appear in answers.
		described, err := d.structSchema(t, rules.Rule{})
		d.asked = asked
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		d.schemas[name] = described
	}
	return jsonschema.Dict{"$ref": "#/components/schemas/" + name}, nil
}

// schemaName returns the name of a type's schema: ListSpace for the type List[github.com/…/schema.Space].
func schemaName(t reflect.Type) string {
	var name strings.Builder
	for part := range strings.FieldsFuncSeq(t.Name(), func(c rune) bool { return c == '[' || c == ']' || c == ',' }) {
		part = part[strings.LastIndexByte(part, '.')+1:]
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

func (d *writer) structSchema(t reflect.Type, r rules.Rule) (jsonschema.Dict, error) {
	properties := jsonschema.Dict{}
	var required []any
	var walk func(t reflect.Type) error
	walk = func(t reflect.Type) error {
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, named := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				if err := walk(indirect(f.Type)); err != nil {
					return err
				}
				continue
			}
			if name == "-" || !f.IsExported() {
				continue
			}
			if name == "" {
				return fmt.Errorf("field %s has no JSON name", f.Name)
			}
			rules, err := d.words.Parse(f.Tag.Get("rules"))
			if err != nil {
				return err
			}
			of, err := d.typeSchema(f.Type, rules, f.Tag)
			if err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
			properties[name] = of
			// In answers, members that are always present are required. In requests, the members with the rule
			// "required" are required.
			answered := !d.asked && strings.HasPrefix(t.PkgPath(), schemaPackage) && !(named && strings.Contains(options, "omit"))
			if rules.Required || answered {
				required = append(required, name)
			}
		}
		return nil
	}
	if err := walk(t); err != nil {
		return nil, err
	}
	out := jsonschema.Dict{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if r.Some {
		out["minProperties"] = 1
	}
	if together, ok := reflect.Zero(t).Interface().(togetherDescribed); ok {
		maps.Copy(out, together.OpenAPIKeywords())
	}
	return out, nil
}

// schemaPackage is the path of the package with the types of answers.
var schemaPackage = reflect.TypeFor[schema.User]().PkgPath()

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// manySchema describes arrays and maps.
func (d *writer) manySchema(t reflect.Type, r rules.Rule, tag reflect.StructTag) (jsonschema.Dict, error) {
	each, err := d.words.Parse(tag.Get("each"))
	if err != nil {
		return nil, err
	}
	entry, err := d.typeSchema(t.Elem(), each, "")
	if err != nil {
		return nil, err
	}
	if t.Kind() == reflect.Map {
		out := jsonschema.Dict{"type": "object", "additionalProperties": entry}
		return withBounds(out, r.Length, "minProperties", "maxProperties"), nil
	}
	out := jsonschema.Dict{"type": "array", "items": entry}
	if t.Kind() == reflect.Array {
		out["minItems"], out["maxItems"] = t.Len(), t.Len()
	}
	return withBounds(out, r.Length, "minItems", "maxItems"), nil
}

func scalarSchema(t reflect.Type, r rules.Rule) (jsonschema.Dict, error) {
	out := jsonschema.Dict{}
	switch t.Kind() {
	case reflect.String:
		out["type"] = "string"
		withBounds(out, r.Length, "minLength", "maxLength")
	case reflect.Bool:
		out["type"] = "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		out["type"] = "integer"
		withBounds(out, r.Span, "minimum", "maximum")
	case reflect.Uint64:
		out["type"], out["minimum"] = "integer", 0
	case reflect.Float64:
		out["type"] = "number"
		withBounds(out, r.Span, "minimum", "maximum")
	case reflect.Interface: // Any JSON.
	default:
		return nil, fmt.Errorf("cannot describe %s", t)
	}
	if r.Enum != "" {
		out["enum"] = jsonschema.AnyOf(r.Values)
	}
	form := r.Form
	if form.Regexp != "" {
		out["pattern"] = form.Regexp
	}
	if form.Format != "" {
		out["format"] = form.Format
	}
	switch {
	case form.Not != "":
		out["not"] = jsonschema.Dict{"pattern": jsonschema.NULPattern + "|" + form.Not}
	case t.Kind() == reflect.String && r.Enum == "":
		out["not"] = jsonschema.NUL
	}
	if r.Absent != "" {
		out["description"] = "Absent: `" + r.Absent + "`."
	}
	return out, nil
}

func withBounds(out jsonschema.Dict, b *rules.Bounds, least, most string) jsonschema.Dict {
	if b != nil && b.Least != nil {
		out[least] = *b.Least
	}
	if b != nil && b.Most != nil {
		out[most] = *b.Most
	}
	return out
}
