package sites

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
)

// checkCondition checks the expression that decides whether visitors see something. Null removes the condition, and so
// does empty text, which the contract allows.
func checkCondition(c *rules.Checker, field string, text schema.Opt[string]) {
	if schema.Or(text.Value, "") == "" {
		return
	}
	if _, err := condition.Parse(*text.Value); err != nil {
		c.Add(field, "is no condition: "+err.Error())
	}
}

// conditionOrNone returns the stored form of a condition: an empty condition is removed.
func conditionOrNone(text schema.Opt[string]) schema.Opt[string] {
	if schema.Or(text.Value, "") == "" {
		text.Value = nil
	}
	return text
}
