package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (l Presenter) UserPermission(row store.UserRole) schema.UserPermission {
	return schema.UserPermission{Permission: row.Role, User: l.User(row.User)}
}
