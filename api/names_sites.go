package api

import "github.com/octavo-docs/octavo/schema"

func init() {
	enums["agentsContext"] = schema.AgentsContexts()
	enums["siteItem"] = schema.SiteItemTypes()
	enums["siteItemSection"] = []string{schema.SiteItemSection}
	enums["siteItemSpace"] = []string{schema.SiteItemSpace}
	enums["redirectKind"] = schema.RedirectKinds()

	// One segment of an address. What begins with "~" is a share key there, and "." and ".." would be folded away.
	patterns["sitePath"] = matching(`^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._~-]*$`,
		"must be letters, digits and - _ . ~, and begin with a letter, a digit, - or _")
	patterns["proxyOrigin"] = matching(`^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$`,
		"must be a host and a path, such as company.com/docs")
	patterns["redirectSource"] = matching(`^/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*$`,
		"must be an absolute path without a slash at its end; characters other than letters, digits and - . _ ~ are percent-encoded")
}
