package schema

// SitePublishingAuth is the configuration of a site whose visitors are authenticated by the customer's own service.
// This service signs the visitors' tokens with PrivateKey (HS256). Visitors without a valid token are redirected to
// FallbackURL, where they log in.
type SitePublishingAuth struct {
	Object      string `json:"object"`
	Backend     string `json:"backend"`
	PrivateKey  string `json:"privateKey"`
	FallbackURL string `json:"fallbackURL,omitempty"`
}

// VisitorAuthCustom is the only backend. It stands for the customer's own service. An integration cannot be a backend,
// because Octavo does not run integrations.
const VisitorAuthCustom = "custom"
