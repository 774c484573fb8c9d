package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

func (v Presenter) User(u orgs.User) schema.User {
	return schema.User{
		Object: "user", ID: u.ID, DisplayName: u.DisplayName, Email: schema.Or(u.Email, ""), PhotoURL: schema.Or(u.PhotoUrl, ""),
		URLs: v.userURLs(u.ID),
	}
}
