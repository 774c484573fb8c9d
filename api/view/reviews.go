package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Reviewer(row store.ReviewerRow) schema.RequestedReviewer {
	return schema.RequestedReviewer{
		Object: "change-request-requested-reviewer", Kind: "user", User: v.User(row.User), Revision: row.Revision,
		RequestedBy: v.User(row.RequestedBy), CreatedAt: row.CreatedAt.UTC(),
	}
}
