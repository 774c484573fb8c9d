package rules

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Check adds the problems of a value to `c`. `field` is the value's name in the problems.
type Check func(c *Checker, field string, value reflect.Value)

// member is a field of a struct, with its check.
type member struct {
	name     string
	index    []int
	required bool
	check    Check
}

// MemberName returns a field's name in a request: its JSON name, or the name of its parameter.
func MemberName(f reflect.StructField) string {
	for _, tag := range []string{"json", "query", "path", "header", "cookie"} {
		if name, ok := f.Tag.Lookup(tag); ok {
			name, _, _ = strings.Cut(name, ",")
			return name
		}
	}
	return ""
}

// Struct compiles the rules in the tags of a struct's fields to a check of the whole struct.
func (v Vocabulary) Struct(t reflect.Type) (Check, error) {
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		// The fields of an embedded type are checked even if the type is unexported.
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		m, err := v.memberOf(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		m.index = f.Index
		members = append(members, m)
	}
	return func(c *Checker, field string, value reflect.Value) {
		for i := range members {
			m := &members[i]
			at := value.FieldByIndex(m.index)
			name := joinField(field, m.name)
			if isAbsent(at) {
				if m.required {
					c.Add(name, "is required")
				}
				continue
			}
			m.check(c, name, at)
		}
	}, nil
}

func (v Vocabulary) memberOf(f reflect.StructField) (member, error) {
	r, err := v.Parse(f.Tag.Get("rules"))
	if err != nil {
		return member{}, err
	}
	if _, isBody := f.Tag.Lookup("body"); isBody {
		return v.bodyMember(f, r)
	}
	if f.Anonymous {
		inner, err := v.Struct(f.Type)
		return member{check: inner}, err
	}
	ck, err := v.checkOf(f.Type, r, f.Tag)
	return member{name: MemberName(f), required: r.Required, check: ck}, err
}

// bodyMember compiles the check of a body. In problems, the names of the body's members have no prefix.
func (v Vocabulary) bodyMember(f reflect.StructField, r Rule) (member, error) {
	if f.Type == reflect.TypeFor[[]byte]() {
		return member{check: func(*Checker, string, reflect.Value) {}}, nil
	}
	inner, err := v.checkOf(f.Type, r, f.Tag)
	if err != nil || !r.Some {
		return member{check: inner}, err
	}
	if f.Type.Kind() != reflect.Struct {
		return member{}, errors.New(`rule "some" needs a struct`)
	}
	return member{check: func(c *Checker, field string, value reflect.Value) {
		for i := range value.NumField() {
			if !isAbsent(value.Field(i)) {
				inner(c, field, value)
				return
			}
		}
		c.Add("", "must have at least one member that can be changed")
	}}, nil
}

// isAbsent reports whether a member was missing from the request. Null is treated as absent. In a schema.Opt it is
// present, because schema.Opt distinguishes null from an absent member.
func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		return IsOpt(v.Type()) && !v.FieldByName("Set").Bool()
	default:
		return false
	}
}

// checkOf returns a function that checks whether a value of the type satisfies the rule.
func (v Vocabulary) checkOf(t reflect.Type, r Rule, tag reflect.StructTag) (Check, error) {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[ProblemFinder]()) {
		return func(c *Checker, field string, value reflect.Value) {
			c.Details = append(c.Details, value.Addr().Interface().(ProblemFinder).Problems(field)...)
		}, nil
	}
	switch {
	case t.Kind() == reflect.Pointer:
		inner, err := v.checkOf(t.Elem(), r, tag)
		return func(c *Checker, field string, value reflect.Value) { inner(c, field, value.Elem()) }, err
	case IsOpt(t):
		inner, err := v.checkOf(t.Field(1).Type.Elem(), r, tag)
		return func(c *Checker, field string, value reflect.Value) {
			if set := value.Field(1); !set.IsNil() {
				inner(c, field, set.Elem())
			}
		}, err
	case t.Implements(reflect.TypeFor[EitherForm]()):
		return v.manyCheck(t, r)
	case t.Kind() == reflect.Struct:
		return v.Struct(t)
	case t.Kind() == reflect.Slice && t.ConvertibleTo(reflect.TypeFor[jsontext.Value]()):
		// The operation's function checks this JSON.
		return func(*Checker, string, reflect.Value) {}, nil
	case t.Kind() == reflect.Slice:
		return v.arrayCheck(t, r, tag)
	case t.Kind() == reflect.Map:
		return v.mapCheck(t, r, tag)
	case t.Kind() == reflect.String:
		return textCheck(r), nil
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64, t.Kind() == reflect.Float64:
		return numberCheck(r), nil
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Interface:
		return func(*Checker, string, reflect.Value) {}, nil
	}
	return nil, fmt.Errorf("no rules are known for %s", t)
}

func (v Vocabulary) arrayCheck(t reflect.Type, r Rule, tag reflect.StructTag) (Check, error) {
	inner, err := v.entryCheck(t.Elem(), tag.Get("each"))
	_, inBody := tag.Lookup("json")
	return func(c *Checker, field string, value reflect.Value) {
		c.entries(field, value.Len(), r.Length)
		for i := range value.Len() {
			name := field
			if inBody {
				name = fmt.Sprintf("%s[%d]", field, i)
			}
			inner(c, name, value.Index(i))
		}
	}, err
}

func (v Vocabulary) mapCheck(t reflect.Type, r Rule, tag reflect.StructTag) (Check, error) {
	keys, err := v.entryCheck(t.Key(), tag.Get("keys"))
	if err != nil {
		return nil, err
	}
	values, err := v.entryCheck(t.Elem(), tag.Get("each"))
	return func(c *Checker, field string, value reflect.Value) {
		c.entries(field, value.Len(), r.Length)
		for _, key := range sortedKeys(value) {
			name := joinField(field, key.String())
			keys(c, name, key)
			// A check may need the address of the entry, but entries of maps have no address. So the check gets a copy.
			entry := reflect.New(t.Elem()).Elem()
			entry.Set(value.MapIndex(key))
			values(c, name, entry)
		}
	}, err
}

// entryCheck compiles the check of an array's or a map's entries, which must not be null.
func (v Vocabulary) entryCheck(t reflect.Type, tag string) (Check, error) {
	r, err := v.Parse(tag)
	if err != nil {
		return nil, err
	}
	inner, err := v.checkOf(t, r, "")
	return func(c *Checker, field string, value reflect.Value) {
		if isAbsent(value) {
			c.Add(field, "must not be null")
			return
		}
		inner(c, field, value)
	}, err
}

func textCheck(r Rule) Check {
	return func(c *Checker, field string, value reflect.Value) {
		text := value.String()
		before := len(c.Details)
		c.text(field, &text, r.Length)
		switch {
		case len(c.Details) > before:
		case r.Values != nil:
			c.Enum(field, &text, r.Values)
		case r.Form.Match != nil && !r.Form.Match(text):
			c.Add(field, r.Form.Problem)
		}
	}
}

func numberCheck(r Rule) Check {
	return func(c *Checker, field string, value reflect.Value) {
		if r.Span == nil {
			return
		}
		var number float64
		if value.CanFloat() {
			number = value.Float()
		} else {
			number = float64(value.Int())
		}
		low, high := r.Span.Least, r.Span.Most
		if (low != nil && number < float64(*low)) || (high != nil && number > float64(*high)) {
			c.Add(field, "must be "+r.Span.String())
		}
	}
}
