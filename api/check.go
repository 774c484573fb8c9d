package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// checker gathers what is wrong with the members of a request, so that a client learns all of it at once.
type checker struct {
	details []schema.Detail
}

func (c *checker) add(field, problem string, allowed ...string) {
	c.details = append(c.details, schema.Detail{Field: field, Problem: problem, Allowed: allowed})
}

// text checks an optional member: nil is absent. Lengths count characters, not bytes.
func (c *checker) text(field string, value *string, shortest, longest int) {
	if value == nil {
		return
	}
	switch length := utf8.RuneCountInString(*value); {
	case strings.ContainsRune(*value, 0):
		c.add(field, "must not hold the character U+0000")
	case length < shortest:
		c.add(field, fmt.Sprintf("must have at least %d characters", shortest))
	case length > longest:
		c.add(field, fmt.Sprintf("must have at most %d characters", longest))
	}
}

// required checks a member that must be there.
func (c *checker) required(field string, value *string, shortest, longest int) {
	if value == nil {
		c.add(field, "is required")
		return
	}
	c.text(field, value, shortest, longest)
}

// enum checks an optional member that takes few values.
func (c *checker) enum(field string, value *string, allowed []string) {
	if value != nil && !slices.Contains(allowed, *value) {
		c.add(field, "has no value that is allowed", allowed...)
	}
}

// or gives the value of an optional member, or what stands for its absence.
func or(value *string, absent string) string {
	if value == nil {
		return absent
	}
	return *value
}
