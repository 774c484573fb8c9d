package rules

import "github.com/octavo-docs/octavo/schema"

// Unoffered is a switch of newer clients for a feature that this service lacks. Only false is accepted. Ignoring true
// would break the sender's intent, for example publish a section that should stay a draft.
type Unoffered bool

// Problems refuses true.
func (u *Unoffered) Problems(field string) []schema.Detail {
	if !*u {
		return nil
	}
	return []schema.Detail{{Field: field, Problem: "is not offered by this server: it must be false or absent"}}
}

// OpenAPISchema describes the one value that is accepted.
func (*Unoffered) OpenAPISchema() map[string]any {
	return map[string]any{"type": "boolean", "enum": []any{false}}
}
