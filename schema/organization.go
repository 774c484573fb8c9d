package schema

import "time"

// Organization is a tenant: everything belongs to exactly one.
type Organization struct {
	Object       string                  `json:"object"`
	ID           string                  `json:"id"`
	Title        string                  `json:"title"`
	CreatedAt    time.Time               `json:"createdAt"`
	EmailDomains []string                `json:"emailDomains"`
	Type         string                  `json:"type"`
	InviteLinks  bool                    `json:"inviteLinks"`
	Plan         string                  `json:"plan"`
	MergeRules   MergeRules              `json:"mergeRules"`
	DefaultRole  Role                    `json:"defaultRole"`
	Hostname     string                  `json:"hostname,omitempty"`
	Trial        Trial                   `json:"trial"`
	URLs         OrganizationURLs        `json:"urls"`
	Permissions  OrganizationPermissions `json:"permissions"`
}

// Trial is the state of a paid plan's trial. A self-hosted installation has no plans to try, so it is never in one.
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

// OrganizationPermissions say what the caller may do with an organization.
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

// MergeRules say what a change request must satisfy before it may be merged: the type `none`, the type `rules` with a list,
// or on a space the type `inherit`.
type MergeRules struct {
	Type  string      `json:"type"`
	Rules []MergeRule `json:"rules,omitempty"`
}

// MergeRule is one rule; Users and Expression belong to the rules that take them.
type MergeRule struct {
	Rule       string   `json:"rule"`
	Users      []string `json:"users,omitempty"`
	Expression string   `json:"expression,omitempty"`
}

// Location is the address that a creation answers with.
func (o Organization) Location() string { return o.URLs.Location }
