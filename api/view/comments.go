package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Reactions(rows []store.Reactions) []schema.EmojiReaction {
	reactions := make([]schema.EmojiReaction, len(rows))
	for i, row := range rows {
		users := make([]schema.UserReaction, len(row.Users))
		for j, r := range row.Users {
			users[j] = schema.UserReaction{User: v.User(r.User), ReactedAt: r.ReactedAt.UTC()}
		}
		reactions[i] = schema.EmojiReaction{Emoji: row.Emoji, Count: int64(len(users)), Users: users}
	}
	return reactions
}

func (v Presenter) CommentURLs(row store.Comment) schema.CommentURLs {
	path := []string{"spaces", row.SpaceID}
	if row.ChangeRequestID != nil {
		path = append(path, "change-requests", *row.ChangeRequestID)
	}
	path = append(path, "comments")
	if row.ParentID != nil {
		path = append(path, *row.ParentID, "replies")
	}
	return schema.CommentURLs{Location: v.API(append(path, row.ID)...)}
}
