package rules

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// OneOrMany is a body that is one object or an array of objects. The length rule of the body's field applies to the
// array. The tags of the type T have the rules of each object. The names of members in problems have an index only if
// the body was an array.
type OneOrMany[T any] struct {
	Items []T
	array bool
}

// UnmarshalJSONFrom reads an object or an array of objects.
func (m *OneOrMany[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if m.array = d.PeekKind() == jsontext.KindBeginArray; m.array {
		return json.UnmarshalDecode(d, &m.Items)
	}
	m.Items = make([]T, 1)
	return json.UnmarshalDecode(d, &m.Items[0])
}

func (m OneOrMany[T]) isArray() bool { return m.array }

// Field returns the name of a member of item i in problems. It begins with the index only if the body was an array.
func (m OneOrMany[T]) Field(i int, name string) string {
	if m.array {
		return fmt.Sprintf("[%d].%s", i, name)
	}
	return name
}

// EitherForm is implemented by every OneOrMany. Code that uses this interface finds the items in the first field of the
// struct.
type EitherForm interface{ isArray() bool }

func (v Vocabulary) manyCheck(t reflect.Type, r Rule) (Check, error) {
	inner, err := v.checkOf(t.Field(0).Type.Elem(), Rule{}, "")
	return func(c *Checker, field string, value reflect.Value) {
		array := value.Interface().(EitherForm).isArray()
		items := value.Field(0)
		c.entries(field, items.Len(), r.Length)
		for i := range items.Len() {
			name := field
			if array {
				name = fmt.Sprintf("%s[%d]", field, i)
			}
			inner(c, name, items.Index(i))
		}
	}, err
}
