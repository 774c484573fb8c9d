package mergerules

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// Vocabulary defines the names in the validation rules of this package.
var Vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"mergeRules":      {"rules", "none"},
		"spaceMergeRules": {"inherit", "rules", "none"},
		"mergeRule":       slices.Sorted(maps.Keys(schema.MergeRuleKinds())),
	},
}
