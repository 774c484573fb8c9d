package view

import (
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) UserPermission(row store.UserRole) people.UserPermission {
	return people.UserPermission{Permission: row.Role, User: v.User(row.User)}
}
