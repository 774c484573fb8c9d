package schema

import "time"

// Site is a published documentation site.
type Site struct {
	Object        string        `json:"object"`
	ID            string        `json:"id"`
	Type          string        `json:"type"`
	Title         string        `json:"title"`
	Visibility    string        `json:"visibility"`
	Published     bool          `json:"published"`
	SiteSpaces    int64         `json:"siteSpaces"`
	CreatedAt     time.Time     `json:"createdAt"`
	AgentsContext string        `json:"agentsContext"`
	Features      []SiteFeature `json:"features"`
	URLs          SiteURLs      `json:"urls"`
}

// SiteFeature is a feature that a plan grants. Octavo has no plans and withholds nothing, so sites list none.
type SiteFeature struct {
	ID     string `json:"id"`
	Plan   string `json:"plan"`
	Frozen bool   `json:"frozen"`
}

// SiteURLs are the addresses of a site.
type SiteURLs struct {
	Location  string `json:"location"`
	App       string `json:"app"`
	Published string `json:"published,omitempty"`
}

// Location is the address that a creation answers with.
func (s Site) Location() string { return s.URLs.Location }

// SiteTypes are the values of a site's `type`.
func SiteTypes() []string {
	return []string{"basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"}
}

// SiteVisibilities are the values of a site's `visibility`.
func SiteVisibilities() []string {
	return []string{"public", "unlisted", "share-link", "visitor-auth"}
}
