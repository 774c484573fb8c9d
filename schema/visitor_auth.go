package schema

// SitePublishingAuth configures a site whose visitors are authenticated by its own service. PrivateKey signs the
// visitors' tokens (HS256). Visitors without a valid token log in at FallbackURL.
type SitePublishingAuth struct {
	Object      string `json:"object"`
	Backend     string `json:"backend"`
	PrivateKey  string `json:"privateKey"`
	FallbackURL string `json:"fallbackURL,omitempty"`
}

// VisitorAuthCustom is the only backend: the site's own service. Octavo does not run integrations, so they cannot be a
// backend.
const VisitorAuthCustom = "custom"
