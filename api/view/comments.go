package view

import (
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Reactions(rows []store.Reactions) []discussion.EmojiReaction {
	reactions := make([]discussion.EmojiReaction, len(rows))
	for i, row := range rows {
		users := make([]discussion.UserReaction, len(row.Users))
		for j, r := range row.Users {
			users[j] = discussion.UserReaction{User: v.User(r.User), ReactedAt: r.ReactedAt.UTC()}
		}
		reactions[i] = discussion.EmojiReaction{Emoji: row.Emoji, Count: int64(len(users)), Users: users}
	}
	return reactions
}

func (v Presenter) CommentURLs(row store.Comment) discussion.CommentURLs {
	path := []string{"spaces", row.SpaceID}
	if row.ChangeRequestID != nil {
		path = append(path, "change-requests", *row.ChangeRequestID)
	}
	path = append(path, "comments")
	if row.ParentID != nil {
		path = append(path, *row.ParentID, "replies")
	}
	return discussion.CommentURLs{Location: v.API(append(path, row.ID)...)}
}
