package discussion

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Comment is a contribution to the discussion of a space or of a change request.
type Comment struct {
	Object      string             `json:"object"`
	ID          string             `json:"id"`
	PostedBy    schema.User        `json:"postedBy"`
	PostedAt    time.Time          `json:"postedAt"`
	EditedAt    *time.Time         `json:"editedAt,omitzero"`
	Reactions   []EmojiReaction    `json:"reactions"`
	Replies     int64              `json:"replies"`
	Repliers    []UserContributor  `json:"repliers"`
	Body        schema.Body        `json:"body"`
	Target      CommentTarget      `json:"target"`
	URLs        CommentURLs        `json:"urls"`
	Permissions CommentPermissions `json:"permissions"`
	// Status is "resolved" if and only if ResolvedAt and ResolvedBy are set.
	Status     string       `json:"status" rules:"enum=commentStatus"`
	ResolvedAt *time.Time   `json:"resolvedAt,omitzero"`
	ResolvedBy *schema.User `json:"resolvedBy,omitzero"`
}

// CommentReply is an answer to a comment.
type CommentReply struct {
	Object      string             `json:"object"`
	ID          string             `json:"id"`
	PostedBy    schema.User        `json:"postedBy"`
	PostedAt    time.Time          `json:"postedAt"`
	EditedAt    *time.Time         `json:"editedAt,omitzero"`
	Reactions   []EmojiReaction    `json:"reactions"`
	Body        schema.Body        `json:"body"`
	URLs        CommentURLs        `json:"urls"`
	Permissions CommentPermissions `json:"permissions"`
}

// EmojiReaction groups all reactions with one emoji.
type EmojiReaction struct {
	Emoji string         `json:"emoji"`
	Count int64          `json:"count"`
	Users []UserReaction `json:"users"`
}

// UserReaction is one user's reaction.
type UserReaction struct {
	User      schema.User `json:"user"`
	ReactedAt time.Time   `json:"reactedAt"`
}

// UserContributor is a user who replied to a comment, with the number of replies and the time of the last reply.
type UserContributor struct {
	UpdatedAt time.Time   `json:"updatedAt"`
	Count     int64       `json:"count"`
	User      schema.User `json:"user"`
}

// CommentTarget is the content that a comment is about. Revision is the latest revision of the content at the time of
// the comment.
type CommentTarget struct {
	Space         string     `json:"space"`
	Revision      string     `json:"revision"`
	ChangeRequest string     `json:"changeRequest,omitempty"`
	Review        string     `json:"review,omitempty"`
	Node          *TargetID  `json:"node,omitzero"`
	Page          *TargetID  `json:"page,omitzero"`
	TableCell     *TableCell `json:"tableCell,omitzero"`
}

// TargetID names a part of the content.
type TargetID struct {
	ID string `json:"id"`
}

// TableCell names a cell of a table by its row and its column.
type TableCell struct {
	Record     string `json:"record"`
	Definition string `json:"definition"`
}

// CommentURLs are the addresses of a comment or a reply.
type CommentURLs struct {
	Location string `json:"location"`
}

// CommentPermissions are the caller's rights on a comment or a reply. Reply is also the right to react with an emoji.
type CommentPermissions struct {
	View   bool `json:"view"`
	Edit   bool `json:"edit"`
	Reply  bool `json:"reply"`
	Delete bool `json:"delete"`
}

// The values of a comment's `status`.
const (
	CommentOpen     = "open"
	CommentResolved = "resolved"
)

// CommentStatuses are the values of a comment's `status`.
func CommentStatuses() []string { return []string{CommentOpen, CommentResolved} }
