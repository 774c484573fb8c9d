package schema

import "time"

// EmailDomain is a domain whose users may join an organization, once the organization has proved its ownership.
type EmailDomain struct {
	Object string `json:"object"`
	Domain string `json:"domain"`
	Proved bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt its time.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}

// SiteHostname is a host name that a site claims. It leads to the site once the claim is proved.
type SiteHostname struct {
	Object   string `json:"object"`
	Hostname string `json:"hostname"`
	Proved   bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt its time.
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

// Subdomain is a name below the installation's domain and its target.
type Subdomain struct {
	Object    string          `json:"object"`
	Subdomain string          `json:"subdomain"`
	Target    SubdomainTarget `json:"target"`
	IsActive  bool            `json:"isActive"`
}

// SubdomainTarget is an organization, the only possible target.
type SubdomainTarget struct {
	Type         string `json:"type"`
	Organization string `json:"organization"`
}
