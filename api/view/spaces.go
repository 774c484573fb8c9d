package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/mergerules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// gitSyncState is the repository of a space; nil while there is none.
func GitSyncState(s store.Space) *schema.GitSyncState {
	if s.GitSync == nil {
		return nil
	}
	state := Decoded[schema.GitSyncState](s.GitSync)
	return &state
}

// defaultSpaceEmoji is an open book, as the code point that the contract allows.
const DefaultSpaceEmoji = "1f4d6"

// spaceResource shows a space as the member sees it whose access was read with it.
func (l Presenter) Space(a store.SpaceAccess) schema.Space {
	s := a.Space
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Emoji: s.Emoji, Visibility: s.Visibility,
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), EditMode: s.EditMode,
		MergeRules: mergerules.Decode(s.MergeRules), URLs: l.SpaceURLs(s), Organization: s.OrganizationID, Parent: schema.Or(s.ParentID, ""),
		Language: schema.Or(s.Language, ""), GitSync: GitSyncState(s), Revision: s.Revision, DefaultLevel: schema.Level(schema.Or(s.DefaultLevel, "")),
		Comments: s.OpenComments, ChangeRequests: int64(s.ChangeRequests),
		ChangeRequestsOpen: int64(s.ChangeRequestsOpen), ChangeRequestsDraft: int64(s.ChangeRequestsDraft),
		Permissions: access.SpacePermissions(access.ContentRights(a.ContentAccess)),
	}
}

// spaceOfSite shows a space to somebody who gets to it through its site. Whoever may not see the space learns its id and
// title; the other members that a space must have say nothing. The time of its creation is in the id already.
func (l Presenter) SpaceOfSite(a store.SpaceAccess) schema.Space {
	if access.ContentRights(a.ContentAccess).Has(access.RightView) {
		return l.Space(a)
	}
	s := a.Space
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Organization: s.OrganizationID, Emoji: DefaultSpaceEmoji,
		Visibility: "private", CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.CreatedAt.UTC(),
		MergeRules: schema.MergeRules{Type: "inherit"}, URLs: l.SpaceURLs(store.Space{ID: s.ID, Visibility: "private"}),
	}
}
