package api

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// rule is what a request's member must satisfy. It is read once from the tags of the field, and again by whoever documents
// or tests requests, so that the checks, the OpenAPI document and the tests of bad input cannot disagree:
//
//	rules:"required"        the member must be there and not null
//	rules:"len=2..128"      characters of a string, or entries of an array or of a map; either end may be left out
//	rules:"range=0..1000"   a number's bounds
//	rules:"enum=role"       one of a closed set by its name in enums
//	rules:"pattern=slug"    a form by its name in patterns
//	rules:"some"            on a body: at least one of its members must be there
//	rules:"default=desc"    what absence means; documentation only, the function does it
//	each:"…"                the same rules for each entry of an array or value of a map
//	keys:"…"                the same rules for each key of a map
//
// Rules of one tag are separated by commas. A type that has a method Problems checks itself.
type rule struct {
	required, some bool
	length         *bounds
	span           *bounds
	enum, pattern  string
	values         []string // what enum names
	form           Pattern  // what pattern names
	absent         string
}

// bounds are inclusive; an end that is left out is nil.
type bounds struct{ least, most *int }

// problemFinder is a type that knows what is wrong with its values, such as a rich document.
type problemFinder interface {
	Problems(field string) []schema.Detail
}

// optional is what every schema.Opt is.
var optionalPrefix = reflect.TypeFor[schema.Opt[int]]().PkgPath() + ".Opt["

func isOpt(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath()+"."+t.Name(), optionalPrefix)
}

// ruleSetters has a row per word of a tag.
var ruleSetters = map[string]func(r *rule, argument string) error{
	"required": func(r *rule, _ string) error { r.required = true; return nil },
	"some":     func(r *rule, _ string) error { r.some = true; return nil },
	"len":      func(r *rule, a string) (err error) { r.length, err = parseBounds(a); return err },
	"range":    func(r *rule, a string) (err error) { r.span, err = parseBounds(a); return err },
	"default":  func(r *rule, a string) error { r.absent = a; return nil },
	"enum":     func(r *rule, a string) error { r.enum = a; return nil },
	"pattern":  func(r *rule, a string) error { r.pattern = a; return nil },
}

// parseRule reads a tag. Names that the vocabulary does not have are errors.
func (v Vocabulary) parseRule(tag string) (rule, error) {
	var r rule
	for word := range strings.SplitSeq(tag, ",") {
		if word == "" {
			continue
		}
		name, argument, _ := strings.Cut(word, "=")
		set, ok := ruleSetters[name]
		if !ok {
			return rule{}, fmt.Errorf("no rule is named %q", name)
		}
		if err := set(&r, argument); err != nil {
			return rule{}, err
		}
	}
	var ok bool
	if r.values, ok = v.Enums[r.enum]; r.enum != "" && !ok {
		return rule{}, fmt.Errorf("no enumeration is named %q", r.enum)
	}
	if r.form, ok = v.Patterns[r.pattern]; r.pattern != "" && !ok {
		return rule{}, fmt.Errorf("no pattern is named %q", r.pattern)
	}
	return r, nil
}

func parseBounds(text string) (*bounds, error) {
	least, most, ok := strings.Cut(text, "..")
	if !ok {
		return nil, fmt.Errorf("bounds %q are not written least..most", text)
	}
	var b bounds
	for _, end := range []struct {
		text string
		into **int
	}{{least, &b.least}, {most, &b.most}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.Atoi(end.text)
		if err != nil {
			return nil, fmt.Errorf("bounds %q: %w", text, err)
		}
		*end.into = &n
	}
	return &b, nil
}

// check finds what is wrong with a value that has the type the rule was written for.
type check func(c *checker, field string, value reflect.Value)

// member is one checked field of a struct.
type member struct {
	name     string
	index    []int
	required bool
	check    check
}

// memberName says how a field is called in a request: by its JSON name or by that of its parameter.
func memberName(f reflect.StructField) string {
	for _, tag := range []string{"json", "query", "path", "header"} {
		if name, ok := f.Tag.Lookup(tag); ok {
			name, _, _ = strings.Cut(name, ",")
			return name
		}
	}
	return ""
}

// structCheck checks a struct's fields one after the other.
func (v Vocabulary) structCheck(t reflect.Type) (check, error) {
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		// The fields of an embedded type count, whatever that type is called.
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
	return func(c *checker, field string, value reflect.Value) {
		for i := range members {
			m := &members[i]
			at := value.FieldByIndex(m.index)
			name := joinField(field, m.name)
			if isAbsent(at) {
				if m.required {
					c.add(name, "is required")
				}
				continue
			}
			m.check(c, name, at)
		}
	}, nil
}

func (v Vocabulary) memberOf(f reflect.StructField) (member, error) {
	r, err := v.parseRule(f.Tag.Get("rules"))
	if err != nil {
		return member{}, err
	}
	if _, isBody := f.Tag.Lookup("body"); isBody {
		return v.bodyMember(f, r)
	}
	if f.Anonymous {
		inner, err := v.structCheck(f.Type)
		return member{check: inner}, err
	}
	ck, err := v.checkOf(f.Type, r, f.Tag)
	return member{name: memberName(f), required: r.required, check: ck}, err
}

// bodyMember lets the names of a body's members stand without a prefix.
func (v Vocabulary) bodyMember(f reflect.StructField, r rule) (member, error) {
	if f.Type == reflect.TypeFor[[]byte]() {
		return member{check: func(*checker, string, reflect.Value) {}}, nil
	}
	inner, err := v.checkOf(f.Type, r, f.Tag)
	if err != nil || !r.some {
		return member{check: inner}, err
	}
	if f.Type.Kind() != reflect.Struct {
		return member{}, errors.New(`rule "some" needs a struct`)
	}
	return member{check: func(c *checker, field string, value reflect.Value) {
		for i := range value.NumField() {
			if !isAbsent(value.Field(i)) {
				inner(c, field, value)
				return
			}
		}
		c.add("", "must have at least one member that can be changed")
	}}, nil
}

// isAbsent says whether a member was not in the request. Null counts as absent, except where schema.Opt tells them apart.
func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		return isOpt(v.Type()) && !v.FieldByName("Set").Bool()
	default:
		return false
	}
}

// checkOf makes the check of a type under a rule.
func (v Vocabulary) checkOf(t reflect.Type, r rule, tag reflect.StructTag) (check, error) {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[problemFinder]()) {
		return func(c *checker, field string, value reflect.Value) {
			c.details = append(c.details, value.Addr().Interface().(problemFinder).Problems(field)...)
		}, nil
	}
	switch {
	case t.Kind() == reflect.Pointer:
		inner, err := v.checkOf(t.Elem(), r, tag)
		return func(c *checker, field string, value reflect.Value) { inner(c, field, value.Elem()) }, err
	case isOpt(t):
		inner, err := v.checkOf(t.Field(1).Type.Elem(), r, tag)
		return func(c *checker, field string, value reflect.Value) {
			if set := value.Field(1); !set.IsNil() {
				inner(c, field, set.Elem())
			}
		}, err
	case t.Implements(reflect.TypeFor[eitherForm]()):
		return v.manyCheck(t, r)
	case t.Kind() == reflect.Struct:
		return v.structCheck(t)
	case t.Kind() == reflect.Slice:
		return v.arrayCheck(t, r, tag)
	case t.Kind() == reflect.Map:
		return v.mapCheck(t, r, tag)
	case t.Kind() == reflect.String:
		return textCheck(r), nil
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64, t.Kind() == reflect.Float64:
		return numberCheck(r), nil
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Interface:
		return func(*checker, string, reflect.Value) {}, nil
	}
	return nil, fmt.Errorf("no rules are known for %s", t)
}

func (v Vocabulary) arrayCheck(t reflect.Type, r rule, tag reflect.StructTag) (check, error) {
	inner, err := v.entryCheck(t.Elem(), tag.Get("each"))
	_, inBody := tag.Lookup("json")
	return func(c *checker, field string, value reflect.Value) {
		c.entries(field, value.Len(), r.length)
		for i := range value.Len() {
			name := field
			if inBody {
				name = fmt.Sprintf("%s[%d]", field, i)
			}
			inner(c, name, value.Index(i))
		}
	}, err
}

func (v Vocabulary) mapCheck(t reflect.Type, r rule, tag reflect.StructTag) (check, error) {
	keys, err := v.entryCheck(t.Key(), tag.Get("keys"))
	if err != nil {
		return nil, err
	}
	values, err := v.entryCheck(t.Elem(), tag.Get("each"))
	return func(c *checker, field string, value reflect.Value) {
		c.entries(field, value.Len(), r.length)
		for _, key := range sortedKeys(value) {
			name := joinField(field, key.String())
			keys(c, name, key)
			// A map's entry cannot be addressed, and a check may need its address.
			entry := reflect.New(t.Elem()).Elem()
			entry.Set(value.MapIndex(key))
			values(c, name, entry)
		}
	}, err
}

// entryCheck is the check of an array's or a map's entry, which must not be null.
func (v Vocabulary) entryCheck(t reflect.Type, tag string) (check, error) {
	r, err := v.parseRule(tag)
	if err != nil {
		return nil, err
	}
	inner, err := v.checkOf(t, r, "")
	return func(c *checker, field string, value reflect.Value) {
		if isAbsent(value) {
			c.add(field, "must not be null")
			return
		}
		inner(c, field, value)
	}, err
}

func textCheck(r rule) check {
	return func(c *checker, field string, value reflect.Value) {
		text := value.String()
		before := len(c.details)
		c.text(field, &text, r.length)
		switch {
		case len(c.details) > before:
		case r.values != nil:
			c.enum(field, &text, r.values)
		case r.form.Match != nil && !r.form.Match(text):
			c.add(field, r.form.Problem)
		}
	}
}

func numberCheck(r rule) check {
	return func(c *checker, field string, value reflect.Value) {
		if r.span == nil {
			return
		}
		var number float64
		if value.CanFloat() {
			number = value.Float()
		} else {
			number = float64(value.Int())
		}
		low, high := r.span.least, r.span.most
		if (low != nil && number < float64(*low)) || (high != nil && number > float64(*high)) {
			c.add(field, "must be "+r.span.String())
		}
	}
}

// String completes the sentence "must be ...".
func (b *bounds) String() string {
	switch {
	case b.most == nil:
		return fmt.Sprintf("at least %d", *b.least)
	case b.least == nil:
		return fmt.Sprintf("at most %d", *b.most)
	}
	return fmt.Sprintf("from %d to %d", *b.least, *b.most)
}

// outside says how a count lies outside of the bounds, in units, or nothing.
func (b *bounds) outside(count int, unit string) string {
	switch {
	case b == nil:
	case b.least != nil && count < *b.least:
		return fmt.Sprintf("must have at least %d %s", *b.least, unit)
	case b.most != nil && count > *b.most:
		return fmt.Sprintf("must have at most %d %s", *b.most, unit)
	}
	return ""
}

func (c *checker) text(field string, value *string, length *bounds) {
	if strings.ContainsRune(*value, 0) {
		c.add(field, noNUL)
	} else if problem := length.outside(utf8.RuneCountInString(*value), "characters"); problem != "" {
		c.add(field, problem)
	}
}

func (c *checker) entries(field string, count int, length *bounds) {
	if problem := length.outside(count, "entries"); problem != "" {
		c.add(field, problem)
	}
}

// noNUL completes the sentence "<name> ..." for text that Postgres does not store.
const noNUL = "must not hold the character U+0000"
