package schema

import "time"

// The states of a provider. Members cannot log in with a pending one, because it is incomplete.
const (
	SAMLActive  = "active"
	SAMLPending = "pending"
)

// SAMLStatuses are the values of a provider's `status`.
func SAMLStatuses() []string { return []string{SAMLActive, SAMLPending} }

// SAMLProvider is an identity provider of an organization. EntityID and Certificate are empty until they are known. SSOURL,
// which must be an address, is the address of the provider itself until then.
type SAMLProvider struct {
	Object      string       `json:"object"`
	ID          string       `json:"id"`
	Label       string       `json:"label"`
	SSOURL      string       `json:"ssoURL"`
	EntityID    string       `json:"entityID"`
	Certificate string       `json:"certificate"`
	DefaultTeam *Team        `json:"defaultTeam,omitzero"`
	DefaultRole Role         `json:"defaultRole"`
	CreatedAt   time.Time    `json:"createdAt"`
	Status      string       `json:"status" rules:"enum=samlStatus"`
	Service     SAMLService  `json:"service"`
	URLs        LocationURLs `json:"urls"`
}

// SAMLService is what the identity provider must know about this installation.
type SAMLService struct {
	ACSURL   string `json:"acsURL"`
	StartURL string `json:"startURL"`
	EntityID string `json:"entityID"`
}

// Location is the address of a new provider in the answer to its creation.
func (p SAMLProvider) Location() string { return p.URLs.Location }

// SSOLogin is a way to log in to an organization.
type SSOLogin struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	StartURL string `json:"startURL"`
}

// SSOLogins are the ways to log in to an organization. They are few, so the list has no pages.
type SSOLogins struct {
	Items []SSOLogin `json:"items"`
}
