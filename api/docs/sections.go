package docs

// group is a page of operations: all operations with one tag.
type group struct {
	// Tag is the operations' tag, and the name of the page.
	Tag, Title, Doc string
}

// sections has the pages of operations in the order of the navigation.
var sections = []struct {
	Title  string
	Groups []group
}{
	{"Insights", []group{
		{"insights", "Insights", "Send visitor events, and ask questions about them."},
		{"conversations", "Conversations", "Keep what readers and agents asked, and find what keeps coming up."},
	}},
	{"Content", []group{
		{"spaces", "Spaces", "Make spaces, and change, move and remove them."},
		{"content", "Pages and files", "Read the pages and files of a space, at present and at each revision."},
		{"change-requests", "Change requests", "Propose changes, have them reviewed, and merge them."},
		{"comments", "Comments", "Discuss pages and change requests."},
		{"collections", "Collections", "Order spaces in collections, and say who may do what in them."},
		{"translations", "Translations", "Keep a space in other languages."},
		{"search", "Search", "Find pages by words."},
		{"exports", "Exports", "Get pages as PDF."},
		{"git", "Git", "Import a space from a Git repository, and export it."},
		{"urls", "Addresses", "Find the content behind an address."},
	}},
	{"Sites", []group{
		{"sites", "Sites", "Make sites, publish them, and change their settings."},
		{"site-structure", "Structure", "Read and order all that a site shows."},
		{"site-spaces", "Site spaces", "Choose the spaces of a site."},
		{"site-sections", "Sections", "Divide a site into sections."},
		{"site-section-groups", "Section groups", "Gather sections in groups."},
		{"site-customization", "Customization", "Change the look of a site."},
		{"site-redirects", "Redirects", "Send readers of old addresses to new ones."},
		{"site-share-links", "Share links", "Let people with a link read a site."},
		{"site-publishing-auth", "Visitor authentication", "Let a login of your own decide who reads a site."},
	}},
	{"Organizations", []group{
		{"organizations", "Organizations", "Manage an organization, its members and its e-mail domains."},
		{"users", "Users", "Read who a token acts for, and who others are."},
		{"teams", "Teams", "Gather members in teams."},
		{"invites", "Invites", "Invite people by mail or by a link."},
		{"sso", "Single sign-on", "Let people log in with SAML, and manage their sessions."},
	}},
	{"Integrations", []group{
		{"integrations", "Integrations", "Publish integrations, and install them."},
		{"openapi", "OpenAPI specifications", "Keep specifications that pages show."},
		{"webhooks", "Webhooks", "Be told of changes by signed requests."},
	}},
	{"Operations", []group{
		{"jobs", "Jobs", "See background jobs, and run failed ones again."},
		{"audit", "Audit log", "See who changed what."},
		{"dashboard", "Dashboard", "Open and end the sessions of browsers on the dashboard."},
	}},
}

// groups returns the groups of all sections.
func groups() (all []group) {
	for _, section := range sections {
		all = append(all, section.Groups...)
	}
	return all
}
