package api

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
)

// condition checks the expression that decides whether visitors see something; null removes one.
func (c *checker) condition(field string, text schema.Opt[string]) {
	if text.Value == nil {
		return
	}
	if _, err := condition.Parse(*text.Value); err != nil {
		c.add(field, "is no condition: "+err.Error())
	}
}
