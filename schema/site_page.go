package schema

import "time"

// SitePage is a page of a site's spaces, with the properties that lists of pages need.
type SitePage struct {
	Space, ID string
	Title     string
	// Path has the slugs of the page and its ancestors, from the root of the space down to the page.
	Path string
	// Owner is the user who last changed the page. It is nil if the user is unknown.
	Owner    *SitePageOwner
	EditedAt time.Time
	// Words is the number of words in the page's document. It is negative if the words were not counted.
	Words int
}

// SitePageOwner is the user who last changed a page.
type SitePageOwner struct {
	ID          string `json:"id"`
	DisplayName string `json:"displayName"`
}
