package schema

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
