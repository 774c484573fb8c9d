package api

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
)

// condition checks the expression that decides whether visitors see something; null removes one, and so does the empty text,
// which the contract allows.
func (c *checker) condition(field string, text schema.Opt[string]) {
	if or(text.Value, "") == "" {
		return
	}
	if _, err := condition.Parse(*text.Value); err != nil {
		c.add(field, "is no condition: "+err.Error())
	}
}

// isCondition is for conditions of which the empty text is none.
func isCondition(text string) bool {
	if text == "" {
		return true
	}
	_, err := condition.Parse(text)
	return err == nil
}

// conditionOrNone is a condition as it is stored: the empty one is none.
func conditionOrNone(text schema.Opt[string]) schema.Opt[string] {
	if or(text.Value, "") == "" {
		text.Value = nil
	}
	return text
}
