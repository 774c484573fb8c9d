package customization

import "github.com/octavo-docs/octavo/schema"

// PublishedSite is everything that a front end needs to show a site.
type PublishedSite struct {
	Object         string                  `json:"object"`
	Site           schema.Site             `json:"site"`
	Structure      schema.SiteStructure    `json:"structure"`
	Customizations PublishedCustomizations `json:"customizations"`
	Scripts        []SiteScript            `json:"scripts"`
}

// PublishedCustomizations has the effective settings of a site, and of each of its site spaces by id.
type PublishedCustomizations struct {
	Site       Customization            `json:"site"`
	SiteSpaces map[string]Customization `json:"siteSpaces"`
}

// SiteScript is a script that an integration adds to the pages of a site.
type SiteScript struct {
	Script                string `json:"script"`
	ContentSecurityPolicy string `json:"contentSecurityPolicy,omitempty"`
	Cookies               bool   `json:"cookies"`
}
