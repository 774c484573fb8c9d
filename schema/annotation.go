package schema

import "time"

// Annotation marks a time or a day in a site's graphs.
type Annotation struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Kind is AnnotationManual, or the kind of change that made Octavo add the annotation.
	Kind string `json:"kind"`
	// At is the annotation's time. If the annotation is about a day, it is the day's first instant in the site's time
	// zone.
	At time.Time `json:"at"`
	// Date is the day as YYYY-MM-DD. It is absent if the annotation is about a time.
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
	// Page is the page that the annotation is about. Pages lists the pages if the annotation is about several pages.
	Page  string   `json:"page,omitempty"`
	Pages []string `json:"pages,omitempty"`
	Space string   `json:"space,omitempty"`
	// Path is a path of the site.
	Path          string `json:"path,omitempty"`
	ChangeRequest string `json:"changeRequest,omitempty"`
	// CreatedBy is the user who made the annotation, or who made the change that the annotation is about. It is absent
	// for changes without a user, and for changes of former users.
	CreatedBy *User        `json:"createdBy,omitzero"`
	CreatedAt time.Time    `json:"createdAt"`
	URLs      LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the annotation.
func (a Annotation) Location() string { return a.URLs.Location }

// The kinds of annotations. Users make annotations of the kind AnnotationManual. Octavo makes the annotations of all
// other kinds.
const (
	AnnotationManual      = "manual"
	AnnotationMerge       = "merge"
	AnnotationPublication = "publication"
	AnnotationRedirect    = "redirect"
	AnnotationImport      = "import"
)

// AnnotationKinds are the kinds of annotations.
func AnnotationKinds() []string {
	return []string{AnnotationManual, AnnotationMerge, AnnotationPublication, AnnotationRedirect, AnnotationImport}
}

// Bounds of an annotation.
const (
	// MaxAnnotationText limits the characters of an annotation's text.
	MaxAnnotationText = 500
	// MaxAnnotationPages limits the pages that an annotation lists. An annotation of a larger change lists no pages.
	MaxAnnotationPages = 200
)
