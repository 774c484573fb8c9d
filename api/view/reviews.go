package view

import (
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Reviewer(row store.ReviewerRow) discussion.RequestedReviewer {
	return discussion.RequestedReviewer{
		Object: "change-request-requested-reviewer", Kind: "user", User: v.User(row.User), Revision: row.Revision,
		RequestedBy: v.User(row.RequestedBy), CreatedAt: row.CreatedAt.UTC(),
	}
}
