package store

import (
	"context"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// CommentRow is a comment or a reply, with the related data that is shown with it.
type CommentRow struct {
	Comment
	Author orgs.User
	// ResolvedBy is nil while the comment is open.
	ResolvedBy *orgs.User
	// Reactions are in the order of the first reaction of each kind.
	Reactions []Reactions
	// Repliers are sorted by the time of their first reply.
	Repliers []Replier
	// Made is the document that was made from a Markdown body. It is nil until ReadDocuments has read it.
	Made []byte
}

// Reactions has the reactions with one emoji, the oldest first.
type Reactions struct {
	Emoji string
	Users []Reaction
}

// Reaction is one user's reaction.
type Reaction struct {
	User      orgs.User
	ReactedAt time.Time
}

// Replier is a user who replied to a comment. UpdatedAt is the time at which the user last posted or edited a reply.
type Replier struct {
	User      orgs.User
	Replies   int64
	UpdatedAt time.Time
}

func (s *Store) commentRow(ctx context.Context, row Comment) (CommentRow, error) {
	rows, err := s.commentRows(ctx, []Comment{row})
	if err != nil {
		return CommentRow{}, err
	}
	return rows[0], nil
}

// commentRows reads the related rows of a page of comments. It needs only three statements for any number of comments.
func (s *Store) commentRows(ctx context.Context, rows []Comment) ([]CommentRow, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids, replied := make([]string, len(rows)), []string{}
	for i, row := range rows {
		ids[i] = row.ID
		if row.Replies > 0 {
			replied = append(replied, row.ID)
		}
	}
	reactions, err := s.db.Queries.ReactionsOfComments(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "reactions")
	}
	var repliers []db.RepliersOfCommentsRow
	if len(replied) > 0 {
		if repliers, err = s.db.Queries.RepliersOfComments(ctx, replied); err != nil {
			return nil, postgres.Interpret(err, "replies")
		}
	}
	users, err := s.Orgs.UsersByID(ctx, usersOfComments(rows, reactions, repliers))
	if err != nil {
		return nil, err
	}
	shown := make([]CommentRow, len(rows))
	at := make(map[string]*CommentRow, len(rows))
	for i, row := range rows {
		shown[i] = CommentRow{Comment: row, Author: users[row.AuthorID]}
		if row.ResolvedBy != nil {
			user := users[*row.ResolvedBy]
			shown[i].ResolvedBy = &user
		}
		at[row.ID] = &shown[i]
	}
	for _, r := range reactions {
		at[r.CommentID].addReaction(r.Emoji, Reaction{User: users[r.UserID], ReactedAt: r.ReactedAt})
	}
	for _, r := range repliers {
		row := at[r.ThreadID]
		row.Repliers = append(row.Repliers, Replier{User: users[r.AuthorID], Replies: r.Replies, UpdatedAt: r.UpdatedAt})
	}
	return shown, nil
}

// ReadDocuments reads the documents of a page of comments in one statement.
func (s *Store) ReadDocuments(ctx context.Context, rows []*CommentRow) error {
	ids := make([]string, len(rows))
	at := make(map[string]*CommentRow, len(rows))
	for i, row := range rows {
		ids[i], at[row.ID] = row.ID, row
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.db.Queries.CommentDocuments(ctx, ids)
	if err != nil {
		return postgres.Interpret(err, "comments")
	}
	for _, row := range found {
		at[row.CommentID].Made = row.Document
	}
	return nil
}

func (c *CommentRow) addReaction(emoji string, reaction Reaction) {
	i := slices.IndexFunc(c.Reactions, func(r Reactions) bool { return r.Emoji == emoji })
	if i < 0 {
		i = len(c.Reactions)
		c.Reactions = append(c.Reactions, Reactions{Emoji: emoji})
	}
	c.Reactions[i].Users = append(c.Reactions[i].Users, reaction)
}

// usersOfComments returns the ids of all users in a page of comments, without duplicates.
func usersOfComments(rows []Comment, reactions []db.ReactionsOfCommentsRow, repliers []db.RepliersOfCommentsRow) []string {
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.AuthorID)
		if row.ResolvedBy != nil {
			ids = append(ids, *row.ResolvedBy)
		}
	}
	for _, r := range reactions {
		ids = append(ids, r.UserID)
	}
	for _, r := range repliers {
		ids = append(ids, r.AuthorID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
