package schema

import "time"

// ChangeRequest is a branch of a space's content that is to be merged.
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
	// Space is the id of the space that it is for.
	Space           string `json:"space"`
	Revision        string `json:"revision"`
	RevisionInitial string `json:"revisionInitial"`
	// RevisionMergedAncestor is the revision of the main content that was last taken in.
	RevisionMergedAncestor string `json:"revisionMergedAncestor,omitempty"`
	RevisionMerged         string `json:"revisionMerged,omitempty"`
	// Comments counts the open ones.
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

// MergeResult says what came of a merge or an update. With conflicts nothing was changed.
type MergeResult struct {
	Revision string `json:"revision"`
	Result   string `json:"result" rules:"enum=mergeResult"`
}

// ExportURL is where a file can be fetched for a while, without a token.
type ExportURL struct {
	URL string `json:"url"`
}

// Location is the address that a creation answers with.
func (c ChangeRequest) Location() string { return c.URLs.Location }

// The statuses of a change request.
const (
	ChangeRequestDraft    = "draft"
	ChangeRequestOpen     = "open"
	ChangeRequestArchived = "archived"
	ChangeRequestMerged   = "merged"
)

// ChangeRequestStatuses are the values of a change request's `status`.
func ChangeRequestStatuses() []string {
	return append(SettableChangeRequestStatuses(), ChangeRequestMerged)
}

// SettableChangeRequestStatuses are those that a client can set; only a merge makes a request merged.
func SettableChangeRequestStatuses() []string {
	return []string{ChangeRequestDraft, ChangeRequestOpen, ChangeRequestArchived}
}

// The results of a merge and of an update.
const (
	ResultMerge     = "merge"
	ResultUpdate    = "update"
	ResultConflicts = "conflicts"
)

// MergeResults are the values of `result`.
func MergeResults() []string { return []string{ResultMerge, ResultUpdate, ResultConflicts} }
