package access

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// SynchronizingGit is the scope of imports and exports of a space. Their jobs check the same scope when they act.
func SynchronizingGit() Scope {
	return Having(RightCreate, OnSpace).OrInstallation(schema.ScopeSpaceGitSync)
}

// Permits reports whether the scope of a space's operation admits an author now. Jobs act after the request, when the
// author may have lost the right.
func (s Scope) Permits(a store.Author) bool {
	if a.Member {
		return ContentRights(a.Access).Has(s.Right)
	}
	return s.Installation != "" && slices.Contains(a.Scopes, s.Installation)
}
