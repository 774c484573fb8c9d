package schema

// PublishedURL is the result of looking up a published address. It is content, or another address if Redirect is set.
type PublishedURL struct {
	// Redirect is the address to which the published address redirects. Target says whether Redirect is content of this
	// installation or an external address.
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
	// BasePath is the path of the site space. Pathname is the part of the address's path after BasePath. SiteBasePath
	// is the path of the site. BasePath and SiteBasePath begin and end with a slash.
	Pathname     string `json:"pathname,omitempty"`
	BasePath     string `json:"basePath,omitempty"`
	SiteBasePath string `json:"siteBasePath,omitempty"`
	// Complete is true if the paths of sections and site spaces are completely resolved. Then only the path of a page
	// can follow.
	Complete *bool `json:"complete,omitempty"`
	// APIToken is a token with which the front end reads the site.
	APIToken string `json:"apiToken,omitempty"`
	// ContextID differs for different claims of a visitor. It is absent if the visitor has no claims.
	ContextID    string `json:"contextId,omitempty"`
	CanonicalURL string `json:"canonicalUrl,omitempty"`
}

// These are the kinds of addresses to which a published address can redirect.
const (
	RedirectTargetContent  = "content"
	RedirectTargetExternal = "external"
)
