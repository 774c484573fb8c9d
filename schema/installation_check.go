package schema

// InstallationCheck is the result of checking a page of a site. It says whether the page loads the tracker, and whether
// the events of the page would be accepted.
type InstallationCheck struct {
	Object  string `json:"object"`
	Verdict string `json:"verdict" rules:"enum=installationVerdict"`
	// Message explains the result to users, and says what they can do.
	Message string `json:"message"`
	// URL is the address of the page, after redirects.
	URL string `json:"url"`
	// KeyID is the id of the site's publishable key that the page contains. It is absent if the page contains no key of
	// this site.
	KeyID string `json:"keyId,omitzero"`
}

// These are the verdicts of an installation check.
const (
	VerdictInstalled      = "installed"
	VerdictUnreachable    = "unreachable"
	VerdictNotFound       = "notFound"
	VerdictWrongKey       = "wrongKey"
	VerdictHostNotAllowed = "hostNotAllowed"
	VerdictBlockedByCSP   = "blockedByCsp"
	VerdictBehindProxy    = "behindProxy"
)

// InstallationEnums returns the enumeration of verdicts. The key is the name that rules use.
func InstallationEnums() map[string][]string {
	return map[string][]string{"installationVerdict": {
		VerdictInstalled, VerdictUnreachable, VerdictNotFound, VerdictWrongKey, VerdictHostNotAllowed,
		VerdictBlockedByCSP, VerdictBehindProxy,
	}}
}
