package view

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
)

// conflictSides maps a value of `take` in the API to the side that the merge takes, and the other way round. In the
// API, "ours" is the change request. In the merge, "ours" is the main content.
var conflictSides = map[string]string{
	schema.TakeOurs: merge.TakeTheirs, schema.TakeTheirs: merge.TakeOurs, schema.TakeValue: merge.TakeValue,
}

// MergeTake returns the merge's name for a value of `take` in the API.
func MergeTake(take string) string { return conflictSides[take] }

// Conflict returns the API form of a conflict in a change request. `resolver` is the user who resolved the conflict.
func (v Presenter) Conflict(row store.ConflictRow, resolver orgs.User) schema.ChangeRequestConflict {
	conflict := schema.ChangeRequestConflict{
		Object: "change-request-conflict", ID: row.ID, Kind: row.Kind, Status: schema.ConflictOpen, Field: row.Field, Block: row.Block, Part: row.Path,
		Base: conflictVersion(row.Base), Ours: conflictVersion(row.Theirs), Theirs: conflictVersion(row.Ours), Takes: []string{},
	}
	if row.Of != nil {
		page := schema.ConflictPage(*row.Of)
		conflict.Page = &page
	}
	for _, other := range row.Others {
		conflict.Pages = append(conflict.Pages, schema.ConflictPage(other))
	}
	offered := row.Takes()
	for _, take := range schema.ConflictTakes() {
		if slices.Contains(offered, conflictSides[take]) {
			conflict.Takes = append(conflict.Takes, take)
		}
	}
	if row.Choice != nil {
		conflict.Status = schema.ConflictResolved
		conflict.Resolution = &schema.ConflictResolution{
			Take: conflictSides[row.Choice.Take], Value: row.Choice.Value, ResolvedBy: v.User(resolver), ResolvedAt: row.ResolvedAt.UTC(),
		}
	}
	return conflict
}

// conflictVersion returns a version of pages without the hashes of their stored documents.
func conflictVersion(version any) any {
	pages, ok := version.([]merge.PageVersion)
	if !ok {
		return version
	}
	pages = slices.Clone(pages)
	for i := range pages {
		pages[i].Document = ""
	}
	return pages
}
