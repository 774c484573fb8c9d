package schema

// Subdomain is a name below the installation's domain and what it leads to.
type Subdomain struct {
	Object    string          `json:"object"`
	Subdomain string          `json:"subdomain"`
	Target    SubdomainTarget `json:"target"`
	IsActive  bool            `json:"isActive"`
}

// SubdomainTarget is an organization: the one target there is.
type SubdomainTarget struct {
	Type         string `json:"type"`
	Organization string `json:"organization"`
}
