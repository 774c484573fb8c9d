package orgs

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// vocabulary defines the names in these operations' rules that no other domain uses.
var vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"memberRole":         schema.MemberRoles(),
		"memberSort":         schema.MemberSorts(),
		"teamRole":           schema.TeamRoles(),
		"contentTarget":      {"site"},
		"samlStatus":         schema.SAMLStatuses(),
		"jobState":           schema.JobStates(),
		"inviteMailState":    schema.InviteMailStates(),
		"onboardingSource":   {"markdown-in-git", "import", "template"},
		"onboardingAudience": {"public", "mixed", "protected", "internal"},
		"onboardingInterest": {"adaptive-content", "api-docs", "proactive-agent"},
	},
	Patterns: map[string]rules.Pattern{
		"subdomain":   subdomainForm,
		"domain":      rules.Matching(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]{2,63}$`, "must be the name of a domain"),
		"certificate": {Match: isNoPrivateKey, Problem: "must be a certificate, not a private key"},
	},
}

var subdomainForm = rules.Matching(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`,
	"must be 3 to 32 lowercase letters, digits and hyphens, and start and end with a letter or digit")
