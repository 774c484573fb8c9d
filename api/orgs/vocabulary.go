package orgs

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/audit"
)

// vocabulary defines the enums and patterns that only the rules of these operations use.
var vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"memberRole":      people.MemberRoles(),
		"memberSort":      people.MemberSorts(),
		"teamRole":        people.TeamRoles(),
		"contentTarget":   {"site"},
		"samlStatus":      people.SAMLStatuses(),
		"jobState":        schema.JobStates(),
		"auditedObject":   audit.AuditedObjects(),
		"auditAction":     schema.AuditActions(),
		"inviteMailState": people.InviteMailStates(),
		"webhookEvent":    schema.WebhookEventNames(),
		"webhookStatus":   schema.WebhookStatuses(),

		"webhookDeliveryState": schema.WebhookDeliveryStates(),
		"onboardingSource":     {"markdown-in-git", "import", "template"},
		"onboardingAudience":   {"public", "mixed", "protected", "internal"},
		"onboardingInterest":   {"adaptive-content", "api-docs", "proactive-agent"},
	},
	Patterns: map[string]rules.Pattern{
		"subdomain":   subdomainForm,
		"domain":      rules.Matching(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]{2,63}$`, "must be the name of a domain"),
		"certificate": {Match: areCertificatesOrEmpty, Problem: "must be one X.509 certificate with an RSA or ECDSA key, as PEM or base64, or up to four as PEM, and no private key"},
		"ssoURL": {
			Match: isSSOURL, Problem: "must be an absolute http or https URL without user and password",
			Regexp: rules.HTTPURL + "|^" + people.NoSSOURL + "$", Not: schema.LinkLoginNot, Format: "uri",
		},
	},
}

var subdomainForm = rules.Matching(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`,
	"must be 3 to 32 lowercase letters, digits and hyphens, and start and end with a letter or digit")
