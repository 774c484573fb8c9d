package schema

// IntegrationScope is a row of the table IntegrationScopes. An integration requests scopes, and an organization allows
// them when it installs the integration.
type IntegrationScope struct {
	Name string
	Doc  string
	// OpensNothing is true if clients know the scope but no operation requires it. Such a scope gives a token no
	// rights.
	OpensNothing bool
}

// These are the scopes that operations require.
const (
	ScopeSpaceContentRead    = "space:content:read"
	ScopeSpaceContentWrite   = "space:content:write"
	ScopeSpaceMetadataRead   = "space:metadata:read"
	ScopeSpaceMetadataWrite  = "space:metadata:write"
	ScopeSpaceGitSync        = "space:git:sync"
	ScopeSiteMetadataRead    = "site:metadata:read"
	ScopeSiteViewsRead       = "site:views:read"
	ScopeOpenAPIRead         = "openapi:read"
	ScopeOpenAPIWrite        = "openapi:write"
	ScopeConversationsIngest = "conversations:ingest"
)

// ScopeInstallation allows a token to use the installation to which it belongs. Every token of an installation has this
// scope, so integrations need not request it.
const ScopeInstallation = "installation"

// IntegrationScopes returns the table of the scopes that integrations may request.
func IntegrationScopes() []IntegrationScope {
	return []IntegrationScope{
		{Name: ScopeSpaceContentRead, Doc: "Read the content, the change requests and the revisions of the installation's spaces."},
		{Name: ScopeSpaceContentWrite, Doc: "Open change requests in the installation's spaces, change their content and merge them."},
		{Name: ScopeSpaceMetadataRead, Doc: "Read the installation's spaces."},
		{Name: ScopeSpaceMetadataWrite, Doc: "Change title, emoji, icon and language of the installation's spaces."},
		{Name: ScopeSpaceGitSync, Doc: "Import and export the installation's spaces with Git."},
		{Name: "page:feedback:read", Doc: "Read what visitors say about pages.", OpensNothing: true},
		{Name: ScopeSiteMetadataRead, Doc: "Read the installation's sites, with their structure, customization and redirects."},
		{Name: ScopeSiteViewsRead, Doc: "Query the insights of the installation's sites."},
		{Name: "site:script:inject", Doc: "Put a script into sites.", OpensNothing: true},
		{Name: "site:script:cookies", Doc: "Set cookies with that script.", OpensNothing: true},
		{Name: "site:visitor:auth", Doc: "Vouch for the visitors of sites.", OpensNothing: true},
		{Name: "site:adaptive:read", Doc: "Read what adaptive content knows about visitors.", OpensNothing: true},
		{Name: "site:adaptive:write", Doc: "Change what adaptive content knows about visitors.", OpensNothing: true},
		{Name: ScopeOpenAPIRead, Doc: "Read the organization's OpenAPI specifications."},
		{Name: ScopeOpenAPIWrite, Doc: "Publish OpenAPI specifications in the organization."},
		{Name: ScopeConversationsIngest, Doc: "Ingest conversations, which have the installation as their source."},
	}
}

// IntegrationScopeNames returns the names of the scopes in IntegrationScopes.
func IntegrationScopeNames() []string {
	var names []string
	for _, scope := range IntegrationScopes() {
		names = append(names, scope.Name)
	}
	return names
}
