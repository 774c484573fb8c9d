package schema

import "time"

// Annotation marks a moment or a day of a site's graphs.
type Annotation struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Kind is AnnotationManual, or the kind of change for which Octavo made the annotation.
	Kind string `json:"kind"`
	// At is the moment. Of a day, it is the first moment in the site's time zone.
	At time.Time `json:"at"`
	// Date is the day as YYYY-MM-DD. It is absent for a moment.
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
	// Page is the page that the annotation is about. Pages are several.
	Page  string   `json:"page,omitempty"`
	Pages []string `json:"pages,omitempty"`
	Space string   `json:"space,omitempty"`
	// Path is a path of the site.
	Path          string `json:"path,omitempty"`
	ChangeRequest string `json:"changeRequest,omitempty"`
	// CreatedBy is the user who made the annotation, or the change that it is about. It is absent for changes without a
	// user, and for changes of former users.
	CreatedBy *User        `json:"createdBy,omitzero"`
	CreatedAt time.Time    `json:"createdAt"`
	URLs      LocationURLs `json:"urls"`
}

// Location is the address of a new annotation in the answer to its creation.
func (a Annotation) Location() string { return a.URLs.Location }

// The kinds of annotations. Octavo makes all except AnnotationManual.
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
	// MaxAnnotationText limits the characters of its text.
	MaxAnnotationText = 500
	// MaxAnnotationPages limits the pages that it names. A larger change names none.
	MaxAnnotationPages = 200
)
