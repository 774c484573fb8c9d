package schema

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ChangeRequestConflict is a part of the content that the change request and the main content have changed differently.
// Only changes since the change request was created or last updated are compared. `Ours` is the version of the change
// request, and `Theirs` is the version of the main content.
type ChangeRequestConflict struct {
	Object string `json:"object"`
	// ID identifies a conflict with its versions. If a version changes, the conflict gets another ID.
	ID     string `json:"id"`
	Kind   string `json:"kind" rules:"enum=conflictKind"`
	Status string `json:"status" rules:"enum=conflictStatus"`
	// Page is the page in conflict. If the conflict is about places or a deletion, Pages has all pages of the conflict.
	Page  *ConflictPage  `json:"page,omitzero"`
	Pages []ConflictPage `json:"pages,omitzero"`
	// Field is the member of the page that is in conflict. If the member is the document, Block is the key of the block
	// in conflict. Part is the part of the block: `text`, or a path in the block's data. Part is absent if the whole
	// block is in conflict.
	Field string `json:"field,omitempty"`
	Block string `json:"block,omitempty"`
	Part  string `json:"part,omitempty"`
	// Base is the version before both changes, Ours is the change request's version, and Theirs is the main content's
	// version. If a version is absent, that side has deleted the part, or does not have the part yet. If both sides put
	// different blocks at one place, each version is a block, or a document of several blocks.
	Base   any `json:"base,omitzero"`
	Ours   any `json:"ours,omitzero"`
	Theirs any `json:"theirs,omitzero"`
	// Takes lists the values of `take` that resolve the conflict.
	Takes      []string            `json:"takes"`
	Resolution *ConflictResolution `json:"resolution,omitzero"`
}

// ConflictPage is a page of the change request. If the change request does not have the page, ConflictPage is the page
// of the main content. Path is empty if the page is a link.
type ConflictPage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

// ConflictResolution is the chosen resolution of a conflict. The next update or merge applies it.
type ConflictResolution struct {
	Take       string         `json:"take" rules:"enum=conflictTake"`
	Value      jsontext.Value `json:"value,omitzero"`
	ResolvedBy User           `json:"resolvedBy"`
	ResolvedAt time.Time      `json:"resolvedAt"`
}

// These are the values of `take`.
const (
	TakeOurs   = "ours"
	TakeTheirs = "theirs"
	TakeValue  = "value"
)

// ConflictTakes returns the values of `take`.
func ConflictTakes() []string { return []string{TakeOurs, TakeTheirs, TakeValue} }

// These are the statuses of a conflict.
const (
	ConflictOpen     = "open"
	ConflictResolved = "resolved"
)

// ConflictStatuses returns the values of a conflict's `status`.
func ConflictStatuses() []string { return []string{ConflictOpen, ConflictResolved} }
