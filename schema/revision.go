package schema

import "time"

// Revision is the content of a space or of a change request at one time.
type Revision struct {
	Object           string            `json:"object"`
	ID               string            `json:"id"`
	Type             string            `json:"type" rules:"enum=revisionType"`
	Parents          []string          `json:"parents"`
	Pages            []RevisionPage    `json:"pages"`
	Files            []RevisionFile    `json:"files"`
	ReusableContents []ReusableContent `json:"reusableContents"`
	Tags             []RevisionTag     `json:"tags"`
	Variables        Data              `json:"variables,omitzero"`
	CreatedAt        time.Time         `json:"createdAt"`
	URLs             RevisionURLs      `json:"urls"`
	// MergedFrom is the change request whose merge created the revision.
	MergedFrom *ChangeRequest `json:"mergedFrom,omitzero"`
}

// RevisionURLs are the addresses of a revision. Published and Public are absent if only members may read the space.
type RevisionURLs struct {
	App       string `json:"app"`
	Published string `json:"published,omitempty"`
	Public    string `json:"public,omitempty"`
}

// RevisionTypes returns the values of a revision's `type`.
func RevisionTypes() []string { return []string{"edits", "merge", "rollback", "update", "computed"} }

// RevisionPage is a page of type `document`, `group` or `link`. The contract defines which members a page of each type
// has. All other members are absent.
type RevisionPage struct {
	ID string `json:"id"`
	// Kind is the older name of the member `type`.
	Kind          string            `json:"kind"`
	Type          string            `json:"type" rules:"enum=pageKind"`
	Title         string            `json:"title"`
	LinkTitle     string            `json:"linkTitle,omitempty"`
	Emoji         string            `json:"emoji,omitempty"`
	Icon          string            `json:"icon,omitempty"`
	CreatedAt     time.Time         `json:"createdAt"`
	UpdatedAt     time.Time         `json:"updatedAt"`
	URLs          *RevisionPageURL  `json:"urls,omitzero"`
	Slug          string            `json:"slug,omitempty"`
	Path          string            `json:"path,omitempty"`
	Pages         []RevisionPage    `json:"pages,omitzero"`
	Layout        *PageLayout       `json:"layout,omitzero"`
	Cover         Data              `json:"cover,omitzero"`
	Variables     Data              `json:"variables,omitzero"`
	Tags          []RevisionPageTag `json:"tags,omitzero"`
	Description   string            `json:"description,omitempty"`
	Hidden        bool              `json:"hidden,omitzero"`
	NoIndex       bool              `json:"noIndex,omitzero"`
	NoRobotsIndex bool              `json:"noRobotsIndex,omitzero"`
	DocumentID    string            `json:"documentId,omitempty"`
	// Markdown or Document has the page's text, if the client requested the text.
	Markdown *string   `json:"markdown,omitzero"`
	Document *Document `json:"document,omitzero"`
	// Target is the target of a link. If the target is an address, Href is this address.
	Target Data   `json:"target,omitzero"`
	Href   string `json:"href,omitempty"`
}

// PageMetaLinks has links for search engines: a page's canonical address, and the addresses of its translations.
type PageMetaLinks struct {
	Canonical  ContentRef   `json:"canonical,omitzero"`
	Alternates []ContentRef `json:"alternates,omitzero"`
}

// RevisionPageURL is the address of a document page.
type RevisionPageURL struct {
	App string `json:"app"`
}

// PageLayout says which parts of a page are shown.
type PageLayout struct {
	Width           string `json:"width"`
	Cover           bool   `json:"cover"`
	CoverSize       string `json:"coverSize"`
	Title           bool   `json:"title"`
	Description     bool   `json:"description"`
	TableOfContents bool   `json:"tableOfContents"`
	Outline         bool   `json:"outline"`
	Pagination      bool   `json:"pagination"`
	Metadata        bool   `json:"metadata"`
	Tags            bool   `json:"tags"`
}

// DefaultPageLayout returns a layout that shows all parts.
func DefaultPageLayout() *PageLayout {
	return &PageLayout{
		Width: "default", Cover: true, CoverSize: "hero", Title: true, Description: true, TableOfContents: true, Outline: true,
		Pagination: true, Metadata: true, Tags: true,
	}
}

// RevisionFile is a file that pages can show.
type RevisionFile struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	DownloadURL string `json:"downloadURL"`
	Size        int64  `json:"size"`
	// Dimensions is absent if the file is not an image.
	Dimensions *Dimensions `json:"dimensions,omitzero"`
}

// Dimensions are the width and height of an image, in pixels.
type Dimensions struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// ReusableContent is a text that several pages show. Octavo has no such objects, so a list of them is always empty.
type ReusableContent struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// RevisionTag is a tag that pages and updates can have. Tags come from the file .gitbook/tags.yaml.
type RevisionTag struct {
	Slug  string `json:"slug"`
	Label string `json:"label"`
	Color string `json:"color"`
	Icon  string `json:"icon,omitempty"`
	Emoji string `json:"emoji,omitempty"`
}

// RevisionPageTag is a tag of a page. Lists of pages show a page's primary tag.
type RevisionPageTag struct {
	Tag     Data `json:"tag"`
	Primary bool `json:"primary,omitzero"`
}

// RevisionPages is the response that lists pages as a tree.
type RevisionPages struct {
	Pages []RevisionPage `json:"pages"`
}

// SearchPageResult is a page that a search has found.
type SearchPageResult struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Path        string `json:"path"`
	// Score is higher for better matches.
	Score float64 `json:"score"`
	// Rank is the position of the page among all results, counted from 1.
	Rank int64 `json:"rank"`
	// Sections has the sections of the page that contain words of the query. It is set only for the best pages.
	Sections []SearchSectionResult `json:"sections,omitzero"`
	// Ancestors has the ancestors of the page, from the top of the tree down to the parent.
	Ancestors []SearchAncestor `json:"ancestors"`
	URLs      RevisionPageURL  `json:"urls"`
}

// SearchSectionResult is a section of a page that a search has found. Body is an excerpt from this section.
type SearchSectionResult struct {
	ID    string          `json:"id"`
	Title string          `json:"title"`
	Path  string          `json:"path"`
	Score float64         `json:"score"`
	Body  string          `json:"body"`
	URLs  RevisionPageURL `json:"urls"`
}

// SearchAncestor is an ancestor of a page that a search has found.
type SearchAncestor struct {
	Title string `json:"title"`
}

// SearchSpaceResult is a space in which a search has found pages. Pages has the best of these pages.
type SearchSpaceResult struct {
	Type  string `json:"type" rules:"enum=searchResultType"`
	ID    string `json:"id"`
	Title string `json:"title"`
	// Score is the score of the best page in the space.
	Score float64            `json:"score"`
	Pages []SearchPageResult `json:"pages"`
}
