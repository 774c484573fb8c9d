package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Collection returns the API form of a collection for a member of its organization. `a` has the collection and this
// member's access.
func (v Presenter) Collection(a store.CollectionAccess) schema.Collection {
	row := a.Collection
	return schema.Collection{
		Object: "collection", ID: row.ID, Title: row.Title, Description: row.Description, Organization: row.OrganizationID,
		Parent: schema.Or(row.ParentID, ""), DefaultLevel: schema.Level(schema.Or(row.DefaultLevel, "")), URLs: v.collectionURLs(row.ID),
		Permissions: collectionPermissions(a.ContentAccess),
	}
}
