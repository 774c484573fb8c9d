package schema

import "time"

// ChangeRequest is a branch of a space's content, with the request to merge it.
type ChangeRequest struct {
	Object      string    `json:"object"`
	ID          string    `json:"id"`
	Number      int32     `json:"number"`
	Status      string    `json:"status" rules:"enum=changeRequestStatus"`
	Subject     string    `json:"subject"`
	Description *Document `json:"description,omitzero"`
	CreatedBy   User      `json:"createdBy"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	// Space is the id of the space to which the change request belongs.
	Space           string `json:"space"`
	Revision        string `json:"revision"`
	RevisionInitial string `json:"revisionInitial"`
	// RevisionMergedAncestor is the revision of the main content that was last merged into the change request.
	RevisionMergedAncestor string `json:"revisionMergedAncestor,omitempty"`
	RevisionMerged         string `json:"revisionMerged,omitempty"`
	// Comments is the number of open comments.
	Comments                   int64             `json:"comments"`
	Outdated                   bool              `json:"outdated"`
	ConversationsIssuesCluster string            `json:"conversationsIssuesCluster,omitempty"`
	URLs                       ChangeRequestURLs `json:"urls"`
}

// ChangeRequestURLs are the addresses of a change request.
type ChangeRequestURLs struct {
	App      string `json:"app"`
	Location string `json:"location"`
}

// MergeResult is the result of a merge or of an update of a change request. If the sides conflict, nothing has changed.
type MergeResult struct {
	Revision string `json:"revision"`
	Result   string `json:"result" rules:"enum=mergeResult"`
}

// ExportURL is an address from which a client can fetch a file without a token. The address is valid for a limited
// time.
type ExportURL struct {
	URL string `json:"url"`
}

// Location returns the Location header of the response that creates the change request.
func (c ChangeRequest) Location() string { return c.URLs.Location }

// These are the statuses of a change request.
const (
	ChangeRequestDraft    = "draft"
	ChangeRequestOpen     = "open"
	ChangeRequestArchived = "archived"
	ChangeRequestMerged   = "merged"
)

// ChangeRequestStatuses returns the values of a change request's `status`.
func ChangeRequestStatuses() []string {
	return append(SettableChangeRequestStatuses(), ChangeRequestMerged)
}

// SettableChangeRequestStatuses returns the statuses that a client can set. Only a merge sets the status `merged`.
func SettableChangeRequestStatuses() []string {
	return []string{ChangeRequestDraft, ChangeRequestOpen, ChangeRequestArchived}
}

// These are the results of a merge and of an update.
const (
	ResultMerge     = "merge"
	ResultUpdate    = "update"
	ResultConflicts = "conflicts"
)

// MergeResults returns the values of `result`.
func MergeResults() []string { return []string{ResultMerge, ResultUpdate, ResultConflicts} }

// ChangeRequestTemplate is the initial content of new change requests in a space.
type ChangeRequestTemplate struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Title becomes the subject of a change request that is created without a subject.
	Title       string         `json:"title"`
	Description *Document      `json:"description,omitzero"`
	Pages       []TemplatePage `json:"pages"`
	CreatedAt   time.Time      `json:"createdAt"`
	URLs        LocationURLs   `json:"urls"`
}

// TemplatePage is a page that the template adds to a change request. Ref is the name by which later pages of the
// template refer to this page. Into is the Ref of the parent page.
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

// Location returns the Location header of the response that creates the template.
func (t ChangeRequestTemplate) Location() string { return t.URLs.Location }
