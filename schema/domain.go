package schema

import "time"

// EmailDomain is a domain whose users may join an organization once the organization has proved that it owns the domain.
type EmailDomain struct {
	Object string `json:"object"`
	Domain string `json:"domain"`
	Proved bool   `json:"proved"`
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
