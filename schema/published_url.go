package schema

// PublishedURL is the target of a published address. It is content, or another address if Redirect is set.
type PublishedURL struct {
	// Target and Redirect are the destination: content of this installation, or an external address.
	Target   string `json:"target,omitempty"`
	Redirect string `json:"redirect,omitempty"`

	Organization  string `json:"organization,omitempty"`
	Site          string `json:"site,omitempty"`
	SiteSection   string `json:"siteSection,omitempty"`
	SiteSpace     string `json:"siteSpace,omitempty"`
	Space         string `json:"space,omitempty"`
	ChangeRequest string `json:"changeRequest,omitempty"`
	Revision      string `json:"revision,omitempty"`
	ShareKey      string `json:"shareKey,omitempty"`
	// Pathname is the part of the address's path after BasePath, which is the site space's path. SiteBasePath is the
	// site's path. Both begin and end with a slash.
	Pathname     string `json:"pathname,omitempty"`
	BasePath     string `json:"basePath,omitempty"`
	SiteBasePath string `json:"siteBasePath,omitempty"`
	// Complete means that no path of a section or a site space can follow.
	Complete *bool `json:"complete,omitempty"`
	// APIToken is a site token.
	APIToken string `json:"apiToken,omitempty"`
	// ContextID changes with the visitor's claims. It is absent without claims.
	ContextID    string `json:"contextId,omitempty"`
	CanonicalURL string `json:"canonicalUrl,omitempty"`
}

// The kinds of addresses that published addresses redirect to.
const (
	RedirectTargetContent  = "content"
	RedirectTargetExternal = "external"
)
