package people

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// The states of a provider. Members cannot log in with a pending provider, because it is incomplete.
const (
	SAMLActive  = "active"
	SAMLPending = "pending"
)

// SAMLStatuses are the values of a provider's `status`.
func SAMLStatuses() []string { return []string{SAMLActive, SAMLPending} }

// SAMLProvider is an identity provider of an organization. EntityID and Certificate are empty if they are not yet
// known. SSOURL is NoSSOURL if it is not yet known.
type SAMLProvider struct {
	Object      string `json:"object"`
	ID          string `json:"id"`
	Label       string `json:"label"`
	SSOURL      string `json:"ssoURL"`
	EntityID    string `json:"entityID"`
	Certificate string `json:"certificate"`
	// Certificates describes all certificates in the text `Certificate`.
	Certificates []SAMLCertificate   `json:"certificates"`
	DefaultTeam  *Team               `json:"defaultTeam,omitzero"`
	DefaultRole  schema.Role         `json:"defaultRole"`
	CreatedAt    time.Time           `json:"createdAt"`
	Status       string              `json:"status" rules:"enum=samlStatus"`
	Service      SAMLService         `json:"service"`
	URLs         schema.LocationURLs `json:"urls"`
}

// SAMLCertificate has the fingerprint of a certificate, in the form in which identity providers show it, and the
// certificate's validity.
type SAMLCertificate struct {
	SHA256    string    `json:"sha256"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
}

// NoSSOURL replaces an unknown address of an identity provider, because the contract requires an absolute URI. In a
// request it also means an unknown address, so that a client can send the address of a response back.
const NoSSOURL = "about:blank"

// SAMLService has the facts about this server that the identity provider needs.
type SAMLService struct {
	ACSURL   string `json:"acsURL"`
	StartURL string `json:"startURL"`
	EntityID string `json:"entityID"`
}

// Location returns the Location header of the response that creates the provider.
func (p SAMLProvider) Location() string { return p.URLs.Location }

// SSOLogin is a way to log in to an organization.
type SSOLogin struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	StartURL string `json:"startURL"`
}

// SSOLogins are the ways to log in to an organization. An organization has only a few of them, so the list has no
// pages.
type SSOLogins struct {
	Items []SSOLogin `json:"items"`
}

// Session is a login by SAML. Its token acts for the user in the organization.
type Session struct {
	Object       string          `json:"object"`
	ID           string          `json:"id"`
	Organization string          `json:"organization"`
	User         string          `json:"user"`
	Provider     SessionProvider `json:"provider"`
	CreatedAt    time.Time       `json:"createdAt"`
	ExpiresAt    time.Time       `json:"expiresAt"`
	LastUsedAt   *time.Time      `json:"lastUsedAt,omitzero"`
	// Current is true for the session whose token sends the request.
	Current bool `json:"current"`
}

// SessionProvider is the SAML provider of a session.
type SessionProvider struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// SessionToken is the token of a new session, which is shown only once.
type SessionToken struct {
	Token        string    `json:"token"`
	Session      string    `json:"session"`
	Organization string    `json:"organization"`
	User         string    `json:"user"`
	ExpiresAt    time.Time `json:"expiresAt"`
}
