package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// GitSyncState returns the Git repository with which a space is synchronized, or nil if it has none.
func GitSyncState(s store.Space) (*schema.GitSyncState, error) {
	if s.GitSync == nil {
		return nil, nil
	}
	state, err := schema.DecodeJSON[schema.GitSyncState](s.GitSync)
	if err != nil {
		return nil, err
	}
	return &state, nil
}

// DefaultSpaceEmoji is the code point of the emoji "open book". The contract allows a code point as an emoji.
const DefaultSpaceEmoji = "1f4d6"

// Space returns the API form of a space for a member. `a` has the space and this member's access.
func (v Presenter) Space(a store.PlacedSpace) (schema.Space, error) {
	s := a.Space
	if a.Reader {
		s = asRead(s)
	}
	mergeRules, err := schema.DecodeJSON[schema.MergeRules](s.MergeRules)
	if err != nil {
		return schema.Space{}, err
	}
	gitSync, err := GitSyncState(s)
	if err != nil {
		return schema.Space{}, err
	}
	permissions := SpacePermissions(a.ContentAccess)
	var trusted []schema.GitBranch
	if permissions.Admin && !a.Reader && s.GitTrusted != nil {
		if trusted, err = schema.DecodeJSON[[]schema.GitBranch](s.GitTrusted); err != nil {
			return schema.Space{}, err
		}
	}
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Emoji: s.Emoji, Visibility: spaceVisibility(a.Place),
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), EditMode: s.EditMode,
		MergeRules: mergeRules, URLs: v.spaceURLs(s, a.Place), Organization: s.OrganizationID, Parent: schema.Or(s.ParentID, ""),
		Language: schema.Or(s.Language, ""), GitSync: gitSync, GitTrusted: trusted,
		Revision: s.Revision, DefaultLevel: schema.Level(schema.Or(s.DefaultLevel, "")),
		Comments: s.OpenComments, ChangeRequests: int64(s.ChangeRequests),
		ChangeRequestsOpen: int64(s.ChangeRequestsOpen), ChangeRequestsDraft: int64(s.ChangeRequestsDraft),
		Permissions: permissions,
	}, nil
}

// asRead returns a space as readers of a published site see it. It removes the data that only members see: its parent,
// its merge rules and the counts of its discussions.
func asRead(s store.Space) store.Space {
	s.ParentID, s.DefaultLevel, s.MergeRules = nil, nil, []byte(`{"type":"inherit"}`)
	s.OpenComments, s.ChangeRequests, s.ChangeRequestsOpen, s.ChangeRequestsDraft = 0, 0, 0, 0
	return s
}

// SpaceOfSite returns the API form of a space for a caller who reads it as a part of a site. A caller who may not see
// the space gets its id, its title and its organization, and default values for the other required members. The
// creation time is not secret, because it is also part of the id.
func (v Presenter) SpaceOfSite(a store.PlacedSpace) (schema.Space, error) {
	if access.ContentRights(a.ContentAccess).Has(access.RightView) {
		return v.Space(a)
	}
	s := a.Space
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Organization: s.OrganizationID, Emoji: DefaultSpaceEmoji,
		Visibility: schema.VisibilityPrivate, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.CreatedAt.UTC(),
		MergeRules: schema.MergeRules{Type: "inherit"}, URLs: v.spaceURLs(store.Space{ID: s.ID}, nil),
	}, nil
}
