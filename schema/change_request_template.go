package schema

import "time"

// ChangeRequestTemplate is the initial content of a space's change request.
type ChangeRequestTemplate struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Title becomes the subject of a change request that has none of its own.
	Title       string         `json:"title"`
	Description *Document      `json:"description,omitzero"`
	Pages       []TemplatePage `json:"pages"`
	CreatedAt   time.Time      `json:"createdAt"`
	URLs        LocationURLs   `json:"urls"`
}

// TemplatePage is a page that the template adds to a change request. Ref names it for later pages, and Into is the ref
// of its parent page.
type TemplatePage struct {
	Ref         string    `json:"ref,omitempty"`
	Into        string    `json:"into,omitempty"`
	Title       string    `json:"title"`
	Emoji       string    `json:"emoji,omitempty"`
	Icon        string    `json:"icon,omitempty"`
	Description string    `json:"description,omitempty"`
	Hidden      bool      `json:"hidden"`
	Document    *Document `json:"document,omitzero"`
}

// Location is the address of a new template in the answer to its creation.
func (t ChangeRequestTemplate) Location() string { return t.URLs.Location }
