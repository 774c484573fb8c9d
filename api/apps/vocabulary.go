package apps

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// vocabulary defines the enums and patterns that only the rules of these operations use.
var vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"impact":       impactNames(),
		"partType":     schema.PartTypes(),
		"partRole":     schema.PartRoles(),
		"clusterOrder": schema.ClusterOrders(), "clusterEventKind": schema.ClusterEventKinds(), "clusterRequestStatus": schema.ChangeRequestStatuses(),
	},
	Patterns: map[string]rules.Pattern{
		"integrationName": rules.Matching(`^[a-zA-Z0-9-_.]+$`, "must have only letters, digits, hyphens, underscores and dots"),
		"cspDirective":    rules.Matching(`^[a-z-]{1,50}$`, "must be the name of a directive"),
		"cspText": rules.Matching(`^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$`,
			"must not hold control characters other than tabs and line breaks"),
		"image": {
			Match: isImage, Problem: "must be a PNG, JPEG, GIF or WebP image of at most 8 megapixels in base64",
			Format: "byte",
		},
	},
}

func impactNames() []string {
	var names []string
	for _, impact := range schema.Impacts() {
		names = append(names, string(impact))
	}
	return names
}
