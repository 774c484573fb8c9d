package mergerules

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// Vocabulary is what the names in the rules of merge rules mean.
var Vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"mergeRules":      {"rules", "none"},
		"spaceMergeRules": {"inherit", "rules", "none"},
		"mergeRule":       slices.Sorted(maps.Keys(schema.MergeRuleKinds())),
	},
}
