package rules

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Rule is a condition that a member of a request must satisfy. The frame, the OpenAPI document and the tests of bad
// input all read rules from the tags of fields:
//
//	rules:"required"        the member must be present and not null
//	rules:"len=2..128"      characters of a string, or entries of an array or of a map; either end may be left out
//	rules:"range=0..1000"   a number's bounds
//	rules:"enum=role"       a closed set of values, by its name in Vocabulary.Enums
//	rules:"pattern=slug"    a form of text, by its name in Vocabulary.Patterns
//	rules:"some"            on a body: at least one of its members must be present
//	rules:"default=desc"    the meaning of an absent member; only for documentation, the function implements it
//	each:"…"                the same rules for each entry of an array or value of a map
//	keys:"…"                the same rules for each key of a map
//
// Commas separate the rules of a tag. If a type has a method Problems, this method is the only check of its values.
type Rule struct {
	Required, Some bool
	Length         *Bounds
	Span           *Bounds
	Enum, Pattern  string
	Values         []string // Values are the values of the enum.
	Form           Pattern  // Form is the pattern that Pattern names.
	Absent         string
}

// Bounds is a range of numbers, which includes both ends. An end is nil if there is no limit on this side.
type Bounds struct{ Least, Most *int }

// ProblemFinder is a type that checks its values itself, such as a rich document.
type ProblemFinder interface {
	Problems(field string) []schema.Detail
}

// optionalPrefix begins the name of every schema.Opt type.
var optionalPrefix = reflect.TypeFor[schema.Opt[int]]().PkgPath() + ".Opt["

func IsOpt(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath()+"."+t.Name(), optionalPrefix)
}

// ruleSetters has a row per keyword of a tag.
var ruleSetters = map[string]func(r *Rule, argument string) error{
	"required": func(r *Rule, _ string) error { r.Required = true; return nil },
	"some":     func(r *Rule, _ string) error { r.Some = true; return nil },
	"len":      func(r *Rule, a string) (err error) { r.Length, err = parseBounds(a); return err },
	"range":    func(r *Rule, a string) (err error) { r.Span, err = parseBounds(a); return err },
	"default":  func(r *Rule, a string) error { r.Absent = a; return nil },
	"enum":     func(r *Rule, a string) error { r.Enum = a; return nil },
	"pattern":  func(r *Rule, a string) error { r.Pattern = a; return nil },
}

// Parse parses a tag. A name missing from the vocabulary is an error.
func (v Vocabulary) Parse(tag string) (Rule, error) {
	var r Rule
	for word := range strings.SplitSeq(tag, ",") {
		if word == "" {
			continue
		}
		name, argument, _ := strings.Cut(word, "=")
		set, ok := ruleSetters[name]
		if !ok {
			return Rule{}, fmt.Errorf("no rule is named %q", name)
		}
		if err := set(&r, argument); err != nil {
			return Rule{}, err
		}
	}
	var ok bool
	if r.Values, ok = v.Enums[r.Enum]; r.Enum != "" && !ok {
		return Rule{}, fmt.Errorf("no enumeration is named %q", r.Enum)
	}
	if r.Form, ok = v.Patterns[r.Pattern]; r.Pattern != "" && !ok {
		return Rule{}, fmt.Errorf("no pattern is named %q", r.Pattern)
	}
	return r, nil
}

func parseBounds(text string) (*Bounds, error) {
	least, most, ok := strings.Cut(text, "..")
	if !ok {
		return nil, fmt.Errorf("bounds %q are not written least..most", text)
	}
	var b Bounds
	for _, end := range []struct {
		text string
		into **int
	}{{least, &b.Least}, {most, &b.Most}} {
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

// String returns the bounds as words that follow "must be" in a problem.
func (b *Bounds) String() string {
	switch {
	case b.Most == nil:
		return fmt.Sprintf("at least %d", *b.Least)
	case b.Least == nil:
		return fmt.Sprintf("at most %d", *b.Most)
	}
	return fmt.Sprintf("from %d to %d", *b.Least, *b.Most)
}

// Outside returns the problem of a count that is outside the bounds, or "" if the count is inside. `unit` is the plural
// noun for the counted things.
func (b *Bounds) Outside(count int, unit string) string {
	switch {
	case b == nil:
	case b.Least != nil && count < *b.Least:
		return fmt.Sprintf("must have at least %d %s", *b.Least, unit)
	case b.Most != nil && count > *b.Most:
		return fmt.Sprintf("must have at most %d %s", *b.Most, unit)
	}
	return ""
}
