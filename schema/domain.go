package schema

import "time"

// EmailDomain is a domain of email addresses. After the organization has proved that it owns the domain, users with an
// address of the domain may join the organization.
type EmailDomain struct {
	Object string `json:"object"`
	Domain string `json:"domain"`
	Proved bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt is the time of the proof.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}

// SiteHostname is a host name that a site claims. After the claim is proved, the host name leads to the site.
type SiteHostname struct {
	Object   string `json:"object"`
	Hostname string `json:"hostname"`
	Proved   bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt is the time of the proof.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}

// DomainRecord is the DNS record that proves the ownership of a domain.
type DomainRecord struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Subdomain is a name directly below the installation's domain, with the target to which the name leads.
type Subdomain struct {
	Object    string          `json:"object"`
	Subdomain string          `json:"subdomain"`
	Target    SubdomainTarget `json:"target"`
	IsActive  bool            `json:"isActive"`
}

// SubdomainTarget is the target of a subdomain. It is always an organization.
type SubdomainTarget struct {
	Type         string `json:"type"`
	Organization string `json:"organization"`
}
