package rules

import "github.com/octavo-docs/octavo/schema"

// Unoffered is a switch of newer clients for something that this service does not do. Only false is accepted: to
// ignore true would break the sender's intent, such as publish a section that is to stay a draft.
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
