package api

import "github.com/octavo-docs/octavo/schema"

func init() {
	enums["commentStatus"] = schema.CommentStatuses()
	enums["commentFilter"] = append([]string{"all"}, schema.CommentStatuses()...)
	enums["reviewStatus"] = schema.ReviewStatuses()
}
