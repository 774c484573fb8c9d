package schema

import "time"

// EmailDomain is an email domain. Users with an address of this domain may join the organization after it has proved
// that it owns the domain.
type EmailDomain struct {
	Object string `json:"object"`
	Domain string `json:"domain"`
	Proved bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt is the time of the proof.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}

// SiteHostname is a host name that a site claims. The host name leads to the site after the claim is proved.
type SiteHostname struct {
	Object   string `json:"object"`
	Hostname string `json:"hostname"`
	Proved   bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt is the time of the proof.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}

// DomainRecord is the DNS record that proves a domain.
type DomainRecord struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Subdomain is a name below the installation's domain, with the target to which it leads.
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
