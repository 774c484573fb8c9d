package schema

// InstallationCheck is the result of a check: whether a page of a site loads the tracker, and whether the page's events
// would arrive.
type InstallationCheck struct {
	Object  string `json:"object"`
	Verdict string `json:"verdict" rules:"enum=installationVerdict"`
	// Message explains the result to users, and says what they can do.
	Message string `json:"message"`
	// URL is the address of the page, after redirects.
	URL string `json:"url"`
	// KeyID is the id of the site's publishable key in the page. It is absent if the page has no key of this site.
	KeyID string `json:"keyId,omitzero"`
}

// The verdicts of an installation check.
const (
	VerdictInstalled      = "installed"
	VerdictUnreachable    = "unreachable"
	VerdictNotFound       = "notFound"
	VerdictWrongKey       = "wrongKey"
	VerdictHostNotAllowed = "hostNotAllowed"
	VerdictBlockedByCSP   = "blockedByCsp"
	VerdictBehindProxy    = "behindProxy"
)

// InstallationEnums returns the enumeration of verdicts, by the name that its rule uses.
func InstallationEnums() map[string][]string {
	return map[string][]string{"installationVerdict": {
		VerdictInstalled, VerdictUnreachable, VerdictNotFound, VerdictWrongKey, VerdictHostNotAllowed,
		VerdictBlockedByCSP, VerdictBehindProxy,
	}}
}
