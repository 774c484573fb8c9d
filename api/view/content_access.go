package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) UserPermission(row store.UserRole) schema.UserPermission {
	return schema.UserPermission{Permission: row.Role, User: v.User(row.User)}
}
