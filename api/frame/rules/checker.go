package rules

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// Checker collects all problems of a request's members, so that one answer lists them all. Most problems come from the
// rules in the tags of the request's type. Methods named Validate add problems that concern several members together.
type Checker struct {
	Details []schema.Detail
}

func (c *Checker) Add(field, problem string, allowed ...string) {
	c.Details = append(c.Details, schema.Detail{Field: field, Problem: problem, Allowed: allowed})
}

// Enum adds a problem if a member is present and its value is not among the allowed values.
func (c *Checker) Enum(field string, value *string, allowed []string) {
	if value != nil && !slices.Contains(allowed, *value) {
		c.Add(field, "has no value that is allowed", allowed...)
	}
}

func joinField(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// sortedKeys returns the keys of a map in sorted order, so that equal requests get equal answers.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

func (c *Checker) text(field string, value *string, length *Bounds) {
	if strings.ContainsRune(*value, 0) {
		c.Add(field, NoNUL)
	} else if problem := length.Outside(utf8.RuneCountInString(*value), "characters"); problem != "" {
		c.Add(field, problem)
	}
}

func (c *Checker) entries(field string, count int, length *Bounds) {
	if problem := length.Outside(count, "entries"); problem != "" {
		c.Add(field, problem)
	}
}

// NoNUL is the problem of a text that contains U+0000, which Postgres cannot store. It follows the name of the member
// in a sentence.
const NoNUL = "must not hold the character U+0000"
