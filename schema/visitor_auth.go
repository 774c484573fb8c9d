package schema

// SitePublishingAuth is how a site knows the visitors whom its own service vouches for. PrivateKey is what that service signs their
// tokens with (HS256), and FallbackURL where visitors without a good token log in.
type SitePublishingAuth struct {
	Object      string `json:"object"`
	Backend     string `json:"backend"`
	PrivateKey  string `json:"privateKey"`
	FallbackURL string `json:"fallbackURL,omitempty"`
}

// VisitorAuthCustom is the only backend: a service of the site's own. Integrations do not run here.
const VisitorAuthCustom = "custom"
