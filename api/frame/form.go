package frame

import (
	"fmt"
	"reflect"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// MediaForm is the media type of forms that browsers post.
var MediaForm = []string{"application/x-www-form-urlencoded"}

// formMember binds one member of a form to a field, as param binds a parameter.
type formMember struct {
	name  string
	index int
	set   func(field reflect.Value, values [][]byte) string
}

// formMembers returns the members of a form's type, which is a struct of texts, numbers and booleans. Their names are
// in `json` tags, as in other bodies. So the rules and the OpenAPI document read all names in the same way.
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

// bindForm fills a form's type. Unknown members are ignored, as in other bodies.
func (p *bodyPlan) bindForm(field reflect.Value, body []byte) error {
	var sent fasthttp.Args
	sent.ParseBytes(body)
	var details []schema.Detail
	for _, m := range p.form {
		values := sent.PeekMulti(m.name)
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
