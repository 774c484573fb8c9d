package schema

import "time"

// Site is a published documentation site.
type Site struct {
	Object          string           `json:"object"`
	ID              string           `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Visibility      string           `json:"visibility"`
	Published       bool             `json:"published"`
	SiteSpaces      int64            `json:"siteSpaces"`
	CreatedAt       time.Time        `json:"createdAt"`
	AgentsContext   string           `json:"agentsContext" rules:"enum=agentsContext"`
	Features        []SiteFeature    `json:"features"`
	Basename        string           `json:"basename,omitempty"`
	Proxy           *SiteProxy       `json:"proxy,omitempty"`
	AdaptiveContent *AdaptiveContent `json:"adaptiveContent,omitempty"`
	// Hostname is the host name at which readers should find the site. After the organization has proved that it owns
	// the name, the name leads to the site.
	Hostname string `json:"hostname,omitempty"`
	// AnonymousEvents is true if clients without a token may post events. If it is false, it is absent, because the
	// published contract does not have this member.
	AnonymousEvents bool     `json:"anonymousEvents,omitzero"`
	URLs            SiteURLs `json:"urls"`
}

// SiteFeature is a feature that a plan grants. Octavo has no plans and no restricted features, so the list is empty.
type SiteFeature struct {
	ID     string `json:"id"`
	Plan   string `json:"plan"`
	Frozen bool   `json:"frozen"`
}

// SiteProxy is set if readers reach the site through the customer's own server. Origin is the address that readers see
// in their browsers, without the scheme. Target is the address from which the customer's server fetches the site.
type SiteProxy struct {
	Origin string `json:"origin"`
	Target string `json:"target"`
}

// AdaptiveContent says whether content may depend on the claims of the visitor.
type AdaptiveContent struct {
	Enabled bool `json:"enabled"`
}

// SiteURLs are the addresses of a site.
type SiteURLs struct {
	Location  string `json:"location"`
	App       string `json:"app"`
	Published string `json:"published,omitempty"`
}

// Location returns the Location header of the response that creates the site.
func (s Site) Location() string { return s.URLs.Location }

// SiteTypes returns the values of a site's `type`.
func SiteTypes() []string {
	return []string{"basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"}
}

// SiteVisibilities returns the values of a site's `visibility`.
func SiteVisibilities() []string {
	return []string{VisibilityPublic, "unlisted", VisibilityShareLink, VisibilityVisitorAuth}
}

// VisibilityVisitorAuth is the visibility of sites that only visitors with a token can open. The customer's own service
// signs these tokens.
const VisibilityVisitorAuth = "visitor-auth"

// VisibilityPublic is the visibility of spaces that everybody may read, and VisibilityPrivate is the visibility of
// spaces that only members may read.
const (
	VisibilityPublic  = "public"
	VisibilityPrivate = "private"
)

// VisibilityShareLink is the visibility of sites that visitors can open only with the key of a share link.
const VisibilityShareLink = "share-link"

// AgentsContexts returns the values of a site's `agentsContext`.
func AgentsContexts() []string { return []string{"excluded", "included"} }

// ShareLink lets visitors open a site that is published by share links. Everybody who has the link's address can open
// the site.
type ShareLink struct {
	Object    string        `json:"object"`
	ID        string        `json:"id"`
	CreatedAt time.Time     `json:"createdAt"`
	Name      string        `json:"name"`
	Active    bool          `json:"active"`
	URLs      PublishedURLs `json:"urls"`
}

// PublishedURLs are the addresses of a part of a site. Published is absent if readers cannot read the part.
type PublishedURLs struct {
	Published string `json:"published,omitempty"`
}
