package api

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// The enumerations and forms of what organizations have beside content.
func init() {
	enums["impact"] = impactNames()
	enums["partType"] = schema.PartTypes()
	enums["partRole"] = schema.PartRoles()
	enums["clusterOrder"] = schema.ClusterOrders()
	enums["translationStatus"] = schema.TranslationStatuses()
	enums["glossaryOperation"] = schema.GlossaryOperations()
	enums["samlStatus"] = schema.SAMLStatuses()

	patterns["dateTime"] = form{match: isDateTime, problem: "must be a time such as 2026-01-31T12:00:00Z", format: "date-time"}
	patterns["oneLine"] = matching(`^[^\n\r]*$`, "must not hold a line break")
	patterns["languageTag"] = matching(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`, "must be the code of a language, such as en or pt-BR")
	patterns["certificate"] = form{match: isNoPrivateKey, problem: "must be a certificate, not a private key"}
}

func impactNames() []string {
	var names []string
	for _, impact := range schema.Impacts() {
		names = append(names, string(impact))
	}
	return names
}

// isDateTime holds times to the years that Postgres and RFC 3339 agree on.
func isDateTime(text string) bool {
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999
}
