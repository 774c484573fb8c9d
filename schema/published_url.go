package schema

// PublishedURL is the target of a published address: content, or another address if Redirect is set.
type PublishedURL struct {
	// Redirect is the address to which the published address redirects. Target says whether that address is content of
	// this installation, or external.
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
	// BasePath is the path of the site space, and Pathname is the part of the address's path after it. SiteBasePath is
	// the site's path. BasePath and SiteBasePath begin and end with a slash.
	Pathname     string `json:"pathname,omitempty"`
	BasePath     string `json:"basePath,omitempty"`
	SiteBasePath string `json:"siteBasePath,omitempty"`
	// Complete is true if the paths of sections and site spaces are completely resolved, so that only the path of a
	// page can follow.
	Complete *bool `json:"complete,omitempty"`
	// APIToken is a site token.
	APIToken string `json:"apiToken,omitempty"`
	// ContextID changes with the visitor's claims. It is absent if the visitor has no claims.
	ContextID    string `json:"contextId,omitempty"`
	CanonicalURL string `json:"canonicalUrl,omitempty"`
}

// The kinds of addresses that published addresses redirect to.
const (
	RedirectTargetContent  = "content"
	RedirectTargetExternal = "external"
)
