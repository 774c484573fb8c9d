package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// checker gathers what is wrong with the members of a request, so that a client learns all of it at once. Most of it comes
// from the rules in the tags of the request's type; Validate methods add what concerns several members together.
type checker struct {
	details []schema.Detail
}

func (c *checker) add(field, problem string, allowed ...string) {
	c.details = append(c.details, schema.Detail{Field: field, Problem: problem, Allowed: allowed})
}

// enum checks an optional member that takes few values.
func (c *checker) enum(field string, value *string, allowed []string) {
	if value != nil && !slices.Contains(allowed, *value) {
		c.add(field, "has no value that is allowed", allowed...)
	}
}

func joinField(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// sortedKeys gives the keys of a map in order, so that equal requests get equal answers.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
