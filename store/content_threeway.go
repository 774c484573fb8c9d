package store

import (
	"context"
	"errors"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// merged is the result of a merge of the main content and a change request.
type merged struct {
	head, branch Revision
	// changed has the differences between the revision `head` and the merged content. The documents of the changed
	// pages are already stored.
	changed tree.Changed
	// chosen is true if the merge has used choices for conflicts.
	chosen bool
}

// errConflicts is the error that rolls a transaction back if there are open conflicts.
var errConflicts = errors.New("both sides changed the content")

// mergeContent merges the newest revision of a locked space with a change request, with the request's choices for
// conflicts. It stores the resulting documents.
func mergeContent(ctx context.Context, q *db.Queries, space Space, row ChangeRequest) (merged, error) {
	var choices conflictRows
	if baseOf(row) != space.Revision { // otherwise there are no conflicts
		var err error
		if choices, err = conflictChoices(ctx, q, row.ID); err != nil {
			return merged{}, err
		}
	}
	m, err := openMerge(ctx, q, space.Revision, row)
	if err != nil {
		return merged{}, err
	}
	result, made, err := m.with(ctx, q, choices.all())
	if err != nil {
		return merged{}, err
	}
	if len(merge.Open(result.Conflicts)) > 0 {
		return merged{}, errConflicts
	}
	changed := tree.Changed{Put: result.Write, Gone: result.Delete, Size: result.Count}
	return merged{head: m.of[1], branch: m.of[2], changed: changed, chosen: len(choices) > 0}, insertDocuments(ctx, q, row.SpaceID, made)
}

// forget deletes the choices that a merge or an update has used.
func (m merged) forget(ctx context.Context, q *db.Queries, requestID string) error {
	if !m.chosen {
		return nil
	}
	return postgres.Interpret(q.DeleteAllConflictChoices(ctx, requestID), "conflicts")
}

// threeWay is a merge of two revisions that have a common base.
type threeWay struct {
	// of and sides have three elements each. The first is the base, and the second is the newest revision of the main
	// content. The third is the revision that is merged into the main content. This third revision is the newest
	// revision of a change request, Git's state, or the result of a translation run.
	of      [3]Revision
	sides   [3]mergeSide
	changed []string
}

// openMerge reads the changes that the main content and a change request have made since the request's base.
func openMerge(ctx context.Context, q *db.Queries, head string, row ChangeRequest) (*threeWay, error) {
	found, err := revisions(ctx, q, row.SpaceID, baseOf(row), head, row.Revision)
	if err != nil {
		return nil, err
	}
	return between(ctx, q, [3]Revision{found[baseOf(row)], found[head], found[row.Revision]})
}

// between reads the changes that the revisions `of[1]` and `of[2]` have made since the base `of[0]`.
func between(ctx context.Context, q *db.Queries, of [3]Revision) (*threeWay, error) {
	m := &threeWay{of: of}
	for _, side := range m.of[1:] {
		changed, err := changedPages(ctx, q, m.of[0], side)
		if err != nil {
			return nil, err
		}
		m.changed = append(m.changed, changed...)
	}
	for i, r := range m.of {
		m.sides[i] = mergeSide{from: pageSource{ctx: ctx, q: q, spaceID: r.SpaceID, revisionID: r.ID}, pages: map[string]*tree.Node{}}
		if err := m.sides[i].fill(m.changed); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// mergeAll merges the revisions `of[1]` and `of[2]`. Their base is `of[0]`. The caller must store the returned
// documents.
func mergeAll(ctx context.Context, q *db.Queries, of [3]Revision) (merge.Result, []Document, error) {
	m, err := between(ctx, q, of)
	if err != nil {
		return merge.Result{}, nil, err
	}
	return m.with(ctx, q, nil)
}

// with merges both sides, and applies choices for conflicts. It returns the result and the new documents, which the
// caller must store. It also reads unchanged pages near the changes.
func (m *threeWay) with(ctx context.Context, q *db.Queries, choices merge.Choices) (merge.Result, []Document, error) {
	var made []Document
	result, err := merge.Pages(merge.Input{
		Base: &m.sides[0], Ours: &m.sides[1], Theirs: &m.sides[2], Changed: m.changed, Choices: choices,
		Count: m.of[1].PageCount, MaxPages: tree.MaxPages, MaxDepth: tree.MaxDepth,
		Load: func(hash string) (schema.Document, error) {
			texts, err := documents(ctx, q, m.of[0].SpaceID, []string{hash})
			return texts[hash].Document, err
		},
		Keep: func(d schema.Document) (string, error) {
			document, err := NewDocument(Text{Document: d})
			made = append(made, document)
			return document.Hash, err
		},
	})
	return result, made, errors.Join(m.sides[0].err, m.sides[1].err, m.sides[2].err, err)
}

// mergeSide reads the pages of one side of a merge. The methods of [merge.Side] return no error, so mergeSide stores
// its first error in `err`.
type mergeSide struct {
	from pageSource
	// pages has the pages that were read, by id. nil means that this side does not have the page.
	pages map[string]*tree.Node
	err   error
}

// fill reads the given pages in one statement.
func (s *mergeSide) fill(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		s.pages[id] = nil
	}
	rows, err := s.from.q.PagesByID(s.from.ctx, db.PagesByIDParams{SpaceID: s.from.spaceID, Revision: s.from.revisionID, Ids: ids})
	if err != nil {
		return postgres.Interpret(err, "pages")
	}
	nodes, err := readNodes(rows, func(row db.PagesByIDRow) db.PageOfRevisionRow { return db.PageOfRevisionRow(row) })
	for _, n := range nodes {
		s.pages[n.ID] = &n
	}
	return err
}

// Page implements [merge.Side].
func (s *mergeSide) Page(id string) (tree.Node, bool) {
	if n, read := s.pages[id]; read {
		if n == nil {
			return tree.Node{}, false
		}
		return *n, true
	}
	n, ok, err := s.from.Page(id)
	s.keep(err)
	s.pages[id] = nil
	if ok {
		s.pages[id] = &n
	}
	return n, ok
}

// Children implements [merge.Side].
func (s *mergeSide) Children(parent string) []tree.Node {
	nodes, err := s.from.Children(parent)
	s.keep(err)
	return nodes
}

func (s *mergeSide) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

// ChangedPages returns the ids of all pages that differ between two revisions of a space's main content. The list may
// also have pages that do not differ.
func (s *Store) ChangedPages(ctx context.Context, spaceID, from, to string) ([]string, error) {
	found, err := revisions(ctx, s.db.Queries, spaceID, from, to)
	if err != nil {
		return nil, err
	}
	return changedPages(ctx, s.db.Queries, found[from], found[to])
}

// changedPages returns the ids of all pages that differ between two revisions. The list may also have pages that do not
// differ. If both revisions are of the main content, or if `to` is based on `from`, changedPages reads only changes.
// Otherwise it reads all pages of both revisions.
func changedPages(ctx context.Context, q *db.Queries, from, to Revision) ([]string, error) {
	switch {
	case from.ID == to.ID:
		return nil, nil
	case from.Branch == to.Branch && from.Base == nil:
		ids, err := q.ChangedInBranch(ctx, db.ChangedInBranchParams{Branch: to.Branch, After: from.Seq, Seq: to.Seq})
		return ids, postgres.Interpret(err, "pages")
	case to.Base != nil && *to.Base == from.Branch && to.BaseSeq == from.Seq:
		ids, err := q.PagesOfBranch(ctx, db.PagesOfBranchParams{Branch: to.Branch, Seq: to.Seq})
		return ids, postgres.Interpret(err, "pages")
	}
	was, err := pagesOf(ctx, q, from.SpaceID, from.ID)
	if err != nil {
		return nil, err
	}
	is, err := pagesOf(ctx, q, to.SpaceID, to.ID)
	if err != nil {
		return nil, err
	}
	return tree.Differences(was, is), nil
}
