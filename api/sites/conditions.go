package sites

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
)

// checkCondition checks the condition under which visitors see a section or a site space. Null and empty text are
// valid, and remove the condition.
func checkCondition(c *rules.Checker, field string, text schema.Opt[string]) {
	if schema.Or(text.Value, "") == "" {
		return
	}
	if _, err := condition.Parse(*text.Value); err != nil {
		c.Add(field, "is no condition: "+err.Error())
	}
}

// conditionOrNone returns the form in which a condition is stored: null instead of an empty text.
func conditionOrNone(text schema.Opt[string]) schema.Opt[string] {
	if schema.Or(text.Value, "") == "" {
		text.Value = nil
	}
	return text
}
