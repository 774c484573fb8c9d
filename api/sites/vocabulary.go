package sites

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// vocabulary defines the enums and patterns that only the rules of these operations use.
var vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"siteType":           schema.SiteTypes(),
		"siteVisibility":     schema.SiteVisibilities(),
		"agentsContext":      schema.AgentsContexts(),
		"siteItem":           schema.SiteItemTypes(),
		"siteItemSection":    {schema.SiteItemSection},
		"siteItemSpace":      {schema.SiteItemSpace},
		"visitorAuthBackend": {schema.VisitorAuthCustom},
		"redirectKind":       schema.RedirectKinds(),
	},
	Patterns: map[string]rules.Pattern{
		// sitePath matches a single segment of an address. A "~" at the beginning of a segment marks a share key, and
		// "." and ".." would be normalized away.
		"sitePath": rules.Matching(`^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._~-]*$`,
			"must be letters, digits and - _ . ~, and begin with a letter, a digit, - or _"),
		"hostname": rules.Matching(`^(?i)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`,
			"must be the name of a host, such as docs.company.com, without a port or a path"),
		"visitorId": rules.Matching(visitorID, "must be letters, digits and - . _ ~"),
		"proxyOrigin": rules.Matching(`^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$`,
			"must be a host and a path, such as company.com/docs"),
		"redirectSource": rules.Matching(`^/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*$`,
			"must be an absolute path without a slash at its end; characters other than letters, digits and - . _ ~ are percent-encoded"),
	},
}
