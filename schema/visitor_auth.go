package schema

// SitePublishingAuth is a site's authentication of visitors by its own service. PrivateKey signs their tokens (HS256).
// Visitors without a valid token log in at FallbackURL.
type SitePublishingAuth struct {
	Object      string `json:"object"`
	Backend     string `json:"backend"`
	PrivateKey  string `json:"privateKey"`
	FallbackURL string `json:"fallbackURL,omitempty"`
}

// VisitorAuthCustom is the only backend: a service of the site's own. Integrations do not run here.
const VisitorAuthCustom = "custom"
