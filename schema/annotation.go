package schema

import "time"

// Annotation marks a time or a day in a site's graphs.
type Annotation struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Kind is AnnotationManual if a user made the annotation. Otherwise it is the kind of change for which Octavo made
	// the annotation.
	Kind string `json:"kind"`
	// At is the time that the annotation marks. If the annotation marks a day, At is the first instant of the day in
	// the site's time zone.
	At time.Time `json:"at"`
	// Date is the day that the annotation marks, as YYYY-MM-DD. It is absent if the annotation marks a time.
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
	// Page is the page that the annotation is about. Pages lists the pages if the annotation is about several pages.
	Page  string   `json:"page,omitempty"`
	Pages []string `json:"pages,omitempty"`
	Space string   `json:"space,omitempty"`
	// Path is the path of the site that the annotation is about.
	Path          string `json:"path,omitempty"`
	ChangeRequest string `json:"changeRequest,omitempty"`
	// CreatedBy is the user who made the annotation, or who made the change that the annotation is about. It is absent
	// if no user made the change, or if the user no longer exists.
	CreatedBy *User        `json:"createdBy,omitzero"`
	CreatedAt time.Time    `json:"createdAt"`
	URLs      LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the annotation.
func (a Annotation) Location() string { return a.URLs.Location }

// These are the kinds of annotations. Users make annotations of the kind AnnotationManual. Octavo makes the annotations
// of all other kinds.
const (
	AnnotationManual      = "manual"
	AnnotationMerge       = "merge"
	AnnotationPublication = "publication"
	AnnotationRedirect    = "redirect"
	AnnotationImport      = "import"
)

// AnnotationKinds returns the kinds of annotations.
func AnnotationKinds() []string {
	return []string{AnnotationManual, AnnotationMerge, AnnotationPublication, AnnotationRedirect, AnnotationImport}
}

// These constants bound an annotation.
const (
	// MaxAnnotationText limits the characters of an annotation's text.
	MaxAnnotationText = 500
	// MaxAnnotationPages limits the pages that an annotation lists. If a change has more pages, its annotation lists no
	// pages.
	MaxAnnotationPages = 200
)
