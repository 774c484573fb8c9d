package docs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document has the parts of the OpenAPI document that the reference reads.
type document struct {
	Paths      map[string]map[string]jsontext.Value `json:"paths"`
	Components struct {
		Schemas map[string]*jsonSchema `json:"schemas"`
	} `json:"components"`
}

// described is an operation in the OpenAPI document.
type described struct {
	Parameters []struct {
		Name     string      `json:"name"`
		In       string      `json:"in"`
		Required bool        `json:"required"`
		Schema   *jsonSchema `json:"schema"`
	} `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct {
			Schema *jsonSchema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]jsontext.Value `json:"responses"`
}

// jsonSchema has the parts of a schema that the reference shows.
type jsonSchema struct {
	Ref           string                 `json:"$ref"`
	Type          jsontext.Value         `json:"type"`
	Properties    map[string]*jsonSchema `json:"properties"`
	Required      []string               `json:"required"`
	Items         *jsonSchema            `json:"items"`
	AnyOf         []*jsonSchema          `json:"anyOf"`
	OneOf         []*jsonSchema          `json:"oneOf"`
	Enum          []jsontext.Value       `json:"enum"`
	Minimum       *float64               `json:"minimum"`
	Maximum       *float64               `json:"maximum"`
	MinLength     *int                   `json:"minLength"`
	MaxLength     *int                   `json:"maxLength"`
	MinItems      *int                   `json:"minItems"`
	MaxItems      *int                   `json:"maxItems"`
	MinProperties *int                   `json:"minProperties"`
	MaxProperties *int                   `json:"maxProperties"`
	Format        string                 `json:"format"`
	Description   string                 `json:"description"`
}

// operation decodes an operation of the document.
func (d *document) operation(path, method string) (described, error) {
	var op described
	raw, ok := d.Paths[path][strings.ToLower(method)]
	if !ok {
		return op, fmt.Errorf("the OpenAPI document has no %s %s", method, path)
	}
	err := json.Unmarshal(raw, &op)
	return op, err
}

// resolve returns the schema to which `s` refers, or `s` itself if it is no reference.
func (d *document) resolve(s *jsonSchema) *jsonSchema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok && d.Components.Schemas[name] != nil {
		return d.Components.Schemas[name]
	}
	return s
}

// alternatives returns the alternative schemas of a value without null, and whether the value may be null.
func (d *document) alternatives(s *jsonSchema) (all []*jsonSchema, null bool) {
	s = d.resolve(s)
	several := append(slices.Clone(s.AnyOf), s.OneOf...)
	if len(several) == 0 {
		several = []*jsonSchema{s}
	}
	for _, one := range several {
		if one = d.resolve(one); string(one.Type) == `"null"` {
			null = true
			continue
		}
		all = append(all, one)
	}
	return all, null
}

// typeOf returns a schema's type in words.
func (d *document) typeOf(s *jsonSchema) string {
	all, null := d.alternatives(s)
	var names []string
	for _, one := range all {
		name := d.plainType(one)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if null {
		names = append(names, "null")
	}
	return strings.Join(names, " or ")
}

func (d *document) plainType(s *jsonSchema) string {
	kind := strings.Trim(string(s.Type), `"`)
	switch {
	case strings.HasPrefix(kind, "["):
		return strings.NewReplacer("[", "", "]", "", `"`, "", ",", " or ", "\n", "", " ", "").Replace(kind)
	case len(s.AnyOf)+len(s.OneOf) > 0:
		return d.typeOf(s)
	case kind == "array" && s.Items != nil:
		return "list of " + d.typeOf(s.Items)
	case kind != "":
		return kind
	case s.Properties != nil:
		return "object"
	case len(s.Enum) > 0:
		return "string"
	}
	return "any JSON"
}

// boundsOf returns the values that a schema allows, with the unit of each number.
func (d *document) boundsOf(s *jsonSchema) string {
	all, _ := d.alternatives(s)
	var parts []string
	for _, one := range all {
		for _, part := range d.plainBounds(one) {
			if part != "" && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, "; ")
}

func (d *document) plainBounds(s *jsonSchema) []string {
	parts := []string{
		enumOf(s.Enum), formats[s.Format],
		span(s.Minimum, s.Maximum, ""), span(s.MinLength, s.MaxLength, " characters"),
		span(s.MinItems, s.MaxItems, " entries"), span(s.MinProperties, s.MaxProperties, " members"),
	}
	if s.Items != nil {
		if each := d.boundsOf(s.Items); each != "" {
			parts = append(parts, "each "+each)
		}
	}
	return parts
}

// formats has the words for each format of texts.
var formats = map[string]string{
	"date-time": "a moment, as 2026-11-26T09:41:00Z", "uri": "an absolute URL", "email": "an e-mail address",
	"uuid": "a UUID", "hostname": "a host name", "date": "a date, as 2026-11-26",
}

// enumOf returns the allowed values as text. It shortens a long list.
func enumOf(values []jsontext.Value) string {
	const most = 24
	var words []string
	for _, value := range values {
		if string(value) != "null" {
			words = append(words, strings.Trim(string(value), `"`))
		}
	}
	if len(words) == 0 {
		return ""
	}
	if len(words) > most {
		return fmt.Sprintf("%s, … (%d values)", strings.Join(words[:most], ", "), len(words))
	}
	return strings.Join(words, ", ")
}

func span[N int | float64](least, most *N, unit string) string {
	number := func(n N) string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }
	switch {
	case least != nil && most != nil && *least == *most:
		return number(*least) + unit
	case least != nil && most != nil:
		return number(*least) + " to " + number(*most) + unit
	case most != nil:
		return "at most " + number(*most) + unit
	case least != nil && *least != 0:
		return "at least " + number(*least) + unit
	}
	return ""
}

// member is a row of a table: a parameter or a member of a body.
type member struct {
	// Name is the name of a parameter, or the path of a member, such as events[].session.visitorId.
	Name string
	// In is the place of a parameter, such as path or query. It is "" for a member of a body.
	In       string
	Type     string
	Bounds   string
	Required bool
	Meaning  string
	// Deep is true for a member of another member.
	Deep bool
}

// The table of a body shows members in up to deepest levels. If it has more than mostMembers rows, it shows fewer
// levels. Members of the first level are always shown.
const (
	deepest     = 4
	mostMembers = 90
)

// membersOf lists the members of a body, the required ones first. `more` is the number of omitted members.
func (d *document) membersOf(s *jsonSchema) (list []member, more int) {
	d.walk(s, "", 0, map[*jsonSchema]bool{}, func(m member) { list = append(list, m) })
	whole := len(list)
	for most := deepest - 1; most > 0 && len(list) > mostMembers; most-- {
		list = slices.DeleteFunc(list, func(m member) bool { return strings.Count(m.Name, ".") >= most })
	}
	return list, whole - len(list)
}

func (d *document) walk(s *jsonSchema, prefix string, depth int, above map[*jsonSchema]bool, add func(member)) {
	all, _ := d.alternatives(s)
	for _, one := range all {
		if above[one] || depth >= deepest {
			continue
		}
		above[one] = true
		// If a body is an object or a list of such objects, the members are shown only once.
		if one.Items != nil && (prefix != "" || len(all) == 1) {
			d.walk(one.Items, prefix+"[]", depth, above, add)
		}
		names := slices.SortedFunc(maps.Keys(one.Properties), func(a, b string) int {
			left, right := slices.Contains(one.Required, a), slices.Contains(one.Required, b)
			if left != right {
				return cmp.Compare(fmt.Sprint(right), fmt.Sprint(left))
			}
			return cmp.Compare(a, b)
		})
		for _, name := range names {
			of := one.Properties[name]
			path := strings.TrimPrefix(prefix+"."+name, ".")
			add(member{
				Name: path, Type: d.typeOf(of), Bounds: d.boundsOf(of), Required: slices.Contains(one.Required, name),
				Meaning: d.descriptionOf(of), Deep: depth > 0,
			})
			d.walk(of, path, depth+1, above, add)
		}
		delete(above, one)
	}
}

// descriptionOf returns the document's description of a schema.
func (d *document) descriptionOf(s *jsonSchema) string {
	text := s.Description
	if text == "" {
		all, _ := d.alternatives(s)
		for _, one := range all {
			if text == "" && s.Ref == "" {
				text = one.Description
			}
		}
	}
	if given, ok := strings.CutPrefix(text, "Absent: "); ok {
		return "Default: " + given
	}
	return text
}
