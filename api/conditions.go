package api

import "github.com/octavo-docs/octavo/schema"

// condition checks the expression that decides whether visitors see something; null removes one.
func (c *checker) condition(field string, text schema.Opt[string]) {
	if text.Value != nil {
		c.details = append(c.details, checkCondition(field, *text.Value)...)
	}
}

// checkCondition is the seam to the language of conditions.
func checkCondition(_, _ string) []schema.Detail { return nil }
