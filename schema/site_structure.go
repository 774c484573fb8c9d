package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// These are the types of the parts of a site to which an ItemPointer can refer.
const (
	SiteItemSpace   = "site-space"
	SiteItemSection = "site-section"
	SiteItemGroup   = "site-section-group"
)

// SiteItemTypes returns the values of `type` in a pointer to a part of a site.
func SiteItemTypes() []string { return []string{SiteItemSpace, SiteItemSection, SiteItemGroup} }

// ItemPointer refers to an item of an ordered list: a part of a site, a collection or a space.
type ItemPointer struct{ Type, ID string }

// SiteItemPosition is a place directly before or after another item. If Before and After are both nil, it is the last
// place.
type SiteItemPosition struct{ Before, After *ItemPointer }

// SiteSpace is the connection of a site with a space that it shows.
type SiteSpace struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Path    string `json:"path"`
	Section string `json:"section,omitempty"`
	Space   Space  `json:"space"`
	Title   string `json:"title"`
	// Default is true if this site space is shown first. Readers who open the section, or the root of the site, then
	// see this site space.
	Default   bool   `json:"default"`
	Condition string `json:"condition,omitempty"`
	// HasAdvancedCustomizationFeature is always true. Octavo has no plans, so every site space can have its own
	// customization.
	HasAdvancedCustomizationFeature bool          `json:"hasAdvancedCustomizationFeature"`
	Hidden                          bool          `json:"hidden"`
	URLs                            PublishedURLs `json:"urls"`
}

// SiteSection groups site spaces.
type SiteSection struct {
	Object       string        `json:"object"`
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	Description  string        `json:"description,omitempty"`
	Default      bool          `json:"default"`
	Path         string        `json:"path"`
	Condition    string        `json:"condition,omitempty"`
	SectionGroup string        `json:"sectionGroup,omitempty"`
	Icon         string        `json:"icon,omitempty"`
	SiteSpaces   []SiteSpace   `json:"siteSpaces"`
	URLs         PublishedURLs `json:"urls"`
}

// SiteSectionGroup groups sections and other groups. Children has all children of the group. Sections has only the
// children that are sections.
type SiteSectionGroup struct {
	Object       string        `json:"object"`
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	SectionGroup string        `json:"sectionGroup,omitempty"`
	Icon         string        `json:"icon,omitempty"`
	Sections     []SiteSection `json:"sections"`
	Children     []SiteItem    `json:"children"`
}

// SiteItem is one part of a site. Exactly one member is set, and only this member is encoded as JSON.
type SiteItem struct {
	Space   *SiteSpace
	Section *SiteSection
	Group   *SiteSectionGroup
}

// MarshalJSONTo writes the member that is set.
func (i SiteItem) MarshalJSONTo(e *jsontext.Encoder) error {
	switch {
	case i.Space != nil:
		return json.MarshalEncode(e, i.Space)
	case i.Section != nil:
		return json.MarshalEncode(e, i.Section)
	}
	return json.MarshalEncode(e, i.Group)
}

// EachSiteSpace calls `visit` for each site space in the part, at every level.
func (i SiteItem) EachSiteSpace(visit func(SiteSpace)) {
	switch {
	case i.Space != nil:
		visit(*i.Space)
	case i.Section != nil:
		for _, space := range i.Section.SiteSpaces {
			visit(space)
		}
	case i.Group != nil:
		for _, child := range i.Group.Children {
			child.EachSiteSpace(visit)
		}
	}
}

// OpenAPISchema returns references to the schemas of the three resources, because lists return these resources too.
func (SiteItem) OpenAPISchema() map[string]any {
	alternatives := []any{}
	for _, name := range []string{"SiteSpace", "SiteSection", "SiteSectionGroup"} {
		alternatives = append(alternatives, map[string]any{"$ref": "#/components/schemas/" + name})
	}
	return map[string]any{"oneOf": alternatives}
}

// These are the values of a structure's `type`: the root has sections and groups, or it has site spaces.
const (
	StructureOfSections   = "sections"
	StructureOfSiteSpaces = "siteSpaces"
)

// SiteStructure has all parts of a site, in order.
type SiteStructure struct {
	Type      string     `json:"type"`
	Structure []SiteItem `json:"structure"`
}

// SiteRedirect is a redirect from a path of a site to a destination.
type SiteRedirect struct {
	Object      string                  `json:"object"`
	ID          string                  `json:"id"`
	Source      string                  `json:"source"`
	Destination SiteRedirectDestination `json:"destination"`
	// Draft is true if the redirect does not yet have a target.
	Draft bool `json:"draft"`
}

// These are the kinds of destinations of redirects.
const (
	RedirectToSection  = "site-section"
	RedirectToSpace    = "site-space"
	RedirectToPage     = "site-page"
	RedirectToExternal = "external"
)

// RedirectKinds returns the values of a destination's `kind`.
func RedirectKinds() []string {
	return []string{RedirectToSection, RedirectToSpace, RedirectToPage, RedirectToExternal}
}

// SiteRedirectDestination is the destination of a redirect. Kind determines the other members.
type SiteRedirectDestination struct {
	Kind          string  `json:"kind" rules:"enum=redirectKind"`
	SiteSectionID *string `json:"siteSectionId,omitempty"`
	SiteSpaceID   *string `json:"siteSpaceId,omitempty"`
	PageID        *string `json:"pageId,omitempty"`
	URL           *string `json:"url,omitempty"`
}

// SiteRedirectTarget is a redirect together with its current target address.
type SiteRedirectTarget struct {
	Redirect SiteRedirect `json:"redirect"`
	Target   string       `json:"target"`
}
