package schema

// These are the types of changes between two revisions.
const (
	PageCreated = "page_created"
	PageEdited  = "page_edited"
	PageDeleted = "page_deleted"
	PageMoved   = "page_moved"
	FileCreated = "file_created"
	FileDeleted = "file_deleted"
)

// RevisionChangeTypes returns the values of a change's `type`.
func RevisionChangeTypes() []string {
	return []string{PageCreated, PageEdited, PageDeleted, PageMoved, FileCreated, FileDeleted}
}

// RevisionChanges has the changes of a revision or of a change request. More is the number of changes that the response
// leaves out because of its limit.
type RevisionChanges struct {
	MergedFrom *ChangeRequest   `json:"mergedFrom,omitzero"`
	Changes    []RevisionChange `json:"changes"`
	More       int              `json:"more,omitzero"`
}

// RevisionChange is a change of a page or of a file. The contract defines which members a change of each type has. All
// other members are absent.
type RevisionChange struct {
	Type       string             `json:"type" rules:"enum=revisionChangeType"`
	Page       *ChangedPage       `json:"page,omitzero"`
	Attributes *ChangedAttributes `json:"attributes,omitzero"`
	Parent     *ChangedParent     `json:"parent,omitzero"`
	File       *ChangedFile       `json:"file,omitzero"`
}

// WithoutFormer returns a change without the previous state of its object, for readers of a site. Readers may see only
// the changed object and its current state.
func (c RevisionChange) WithoutFormer() RevisionChange {
	if c.Attributes != nil {
		now := *c.Attributes
		for _, text := range []**ChangedText{&now.Title, &now.Description, &now.Slug, &now.Emoji, &now.Document} {
			if *text != nil {
				*text = &ChangedText{After: (*text).After}
			}
		}
		if now.Target != nil {
			now.Target = &ChangedTarget{After: now.Target.After}
		}
		c.Attributes = &now
	}
	if c.Parent != nil {
		c.Parent = &ChangedParent{After: c.Parent.After}
	}
	return c
}

// ChangedPage is a page of the revision. If the page was deleted, it is a page of the previous revision. Links have no
// path.
type ChangedPage struct {
	ID    string `json:"id"`
	Type  string `json:"type" rules:"enum=pageKind"`
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

// ChangedAttributes are the changed attributes of an edited page. The contract has no members for some properties, for
// example for the property that hides the page. If only such properties changed, ChangedAttributes is empty.
type ChangedAttributes struct {
	Title       *ChangedText   `json:"title,omitzero"`
	Description *ChangedText   `json:"description,omitzero"`
	Slug        *ChangedText   `json:"slug,omitzero"`
	Emoji       *ChangedText   `json:"emoji,omitzero"`
	Document    *ChangedText   `json:"document,omitzero"`
	Target      *ChangedTarget `json:"target,omitzero"`
}

// ChangedText has the previous and the current version of a text. A version is absent if it is empty.
type ChangedText struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// ChangedTarget has the previous and the current target of a link.
type ChangedTarget struct {
	Before Data `json:"before,omitzero"`
	After  Data `json:"after,omitzero"`
}

// ChangedParent has the previous and current parent of a moved page. If a parent is absent, it is the root. If only the
// order of the pages below a parent has changed, both parents are equal.
type ChangedParent struct {
	Before *ChangedPage `json:"before,omitzero"`
	After  *ChangedPage `json:"after,omitzero"`
}

// ChangedFile is a file that was added or removed.
type ChangedFile struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	DownloadURL string `json:"downloadURL"`
}
