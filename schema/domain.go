package schema

import "time"

// EmailDomain is a domain whose people may join an organization once it is proved to be the organization's.
type EmailDomain struct {
	Object string `json:"object"`
	Domain string `json:"domain"`
	Proved bool   `json:"proved"`
	// ProvedBy is how, and ProvedAt is when it was proved.
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
