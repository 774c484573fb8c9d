package schema

import "time"

// SiteHostname is the name of a host that a site claims. It leads to the site once it is proved.
type SiteHostname struct {
	Object   string `json:"object"`
	Hostname string `json:"hostname"`
	Proved   bool   `json:"proved"`
	// ProvedBy is the method of the proof, and ProvedAt its time.
	ProvedBy string       `json:"provedBy,omitempty"`
	ProvedAt *time.Time   `json:"provedAt,omitempty"`
	Record   DomainRecord `json:"record"`
}
