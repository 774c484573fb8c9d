package schema

import "time"

// Organization is a tenant. All content, sites and settings belong to exactly one organization.
type Organization struct {
	Object       string     `json:"object"`
	ID           string     `json:"id"`
	Title        string     `json:"title"`
	CreatedAt    time.Time  `json:"createdAt"`
	EmailDomains []string   `json:"emailDomains"`
	Type         string     `json:"type"`
	InviteLinks  bool       `json:"inviteLinks"`
	Plan         string     `json:"plan"`
	MergeRules   MergeRules `json:"mergeRules"`
	DefaultRole  Role       `json:"defaultRole"`
	Hostname     string     `json:"hostname,omitempty"`
	// DefaultContent is the content that visitors to the organization's address see.
	DefaultContent *DefaultContent         `json:"defaultContent,omitempty"`
	SSO            bool                    `json:"sso"`
	AI             bool                    `json:"ai"`
	Trial          Trial                   `json:"trial"`
	URLs           OrganizationURLs        `json:"urls"`
	Permissions    OrganizationPermissions `json:"permissions"`
}

// DefaultContent is the content that an organization's address shows. It is always a site.
type DefaultContent struct {
	Type string `json:"type"`
	Site string `json:"site"`
}

// Trial is the state of a paid plan's trial. A self-hosted installation has no plans, so no response has a trial.
type Trial struct {
	Status string `json:"status"`
	Count  int    `json:"count"`
}

// OrganizationURLs are the addresses of an organization.
type OrganizationURLs struct {
	Location string `json:"location"`
	App      string `json:"app"`
	Logo     string `json:"logo,omitempty"`
}

// OrganizationPermissions says which rights the caller has on an organization.
type OrganizationPermissions struct {
	View                bool `json:"view"`
	Access              bool `json:"access"`
	Admin               bool `json:"admin"`
	OwnTeam             bool `json:"ownTeam"`
	CreateContent       bool `json:"createContent"`
	CreateOpenAPISpec   bool `json:"createOpenAPISpec"`
	IngestConversations bool `json:"ingestConversations"`
	ViewBilling         bool `json:"viewBilling"`
	ListMembers         bool `json:"listMembers"`
	ListTeams           bool `json:"listTeams"`
	ListIntegrations    bool `json:"listIntegrations"`
	ListInstallations   bool `json:"listInstallations"`
	InstallIntegration  bool `json:"installIntegration"`
}

// Location returns the Location header of the response that creates the organization.
func (o Organization) Location() string { return o.URLs.Location }
