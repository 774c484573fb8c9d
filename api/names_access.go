package api

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
)

func init() {
	enums["mergeRules"] = []string{"rules", "none"}
	enums["spaceMergeRules"] = []string{"inherit", "rules", "none"}
	enums["mergeRule"] = slices.Sorted(maps.Keys(schema.MergeRuleKinds()))
	enums["memberRole"] = schema.MemberRoles()
	enums["memberSort"] = schema.MemberSorts()
	enums["teamRole"] = schema.TeamRoles()
	enums["pointerType"] = []string{"space", "collection"}
	enums["contentTarget"] = []string{"site"}
	patterns["subdomain"] = matching(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`,
		"must be 3 to 32 lowercase letters, digits and hyphens, and start and end with a letter or digit")
	patterns["domain"] = matching(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`,
		"must be a domain such as example.com")
}
