package store

import (
	"context"
	"errors"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/merge"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/db"
)

// merged is the result of merging the main content and a request.
type merged struct {
	head, branch Revision
	// changed is what the request makes of the head. Documents that the merge made are stored.
	changed tree.Changed
}

// errConflicts ends a transaction that must change nothing, because both sides changed the same things in different ways.
var errConflicts = errors.New("both sides changed the content")

// mergeContent merges the head of a locked space and a request. It reads what either of them changed, and what is around it.
func mergeContent(ctx context.Context, q *db.Queries, space Space, row ChangeRequest) (m merged, err error) {
	found, err := revisions(ctx, q, row.SpaceID, baseOf(row), space.Revision, row.Revision)
	if err != nil {
		return merged{}, err
	}
	base := found[baseOf(row)]
	m.head, m.branch = found[space.Revision], found[row.Revision]
	ours, err := changedPages(ctx, q, base, m.head)
	if err != nil {
		return merged{}, err
	}
	theirs, err := changedPages(ctx, q, base, m.branch)
	if err != nil {
		return merged{}, err
	}
	result, made, err := threeWay(ctx, q, [3]Revision{base, m.head, m.branch}, slices.Concat(ours, theirs))
	if err != nil {
		return merged{}, err
	}

	if len(merge.Open(result.Conflicts)) > 0 {
		return merged{}, errConflicts
	}
	m.changed = tree.Changed{Put: result.Write, Gone: result.Delete, Size: result.Count}
	return m, insertDocuments(ctx, q, row.SpaceID, made)
}

// threeWay merges the changes of a base's two successors, and gives the documents that are to be stored for it.
func threeWay(ctx context.Context, q *db.Queries, of [3]Revision, changed []string) (merge.Result, []Document, error) {
	var sides [3]mergeSide
	for i, r := range of {
		sides[i] = mergeSide{from: pageSource{ctx: ctx, q: q, spaceID: r.SpaceID, revisionID: r.ID}, pages: map[string]*tree.Node{}}
		if err := sides[i].fill(changed); err != nil {
			return merge.Result{}, nil, err
		}
	}
	var made []Document
	result, err := merge.Pages(merge.Input{
		Base: &sides[0], Ours: &sides[1], Theirs: &sides[2], Changed: changed,
		Count: of[1].PageCount, MaxPages: tree.MaxPages, MaxDepth: tree.MaxDepth,
		Load: func(hash string) (schema.Document, error) {
			texts, err := documents(ctx, q, of[0].SpaceID, []string{hash})
			return texts[hash].Document, err
		},
		Keep: func(d schema.Document) (string, error) {
			document, err := NewDocument(Text{Document: d})
			made = append(made, document)
			return document.Hash, err
		},
	})
	return result, made, errors.Join(sides[0].err, sides[1].err, sides[2].err, err)
}

// mergeSide reads the pages of one side of a merge. It keeps its first error: see [merge.Side].
type mergeSide struct {
	from pageSource
	// pages are those that were read; nil is one that is not there.
	pages map[string]*tree.Node
	err   error
}

// fill reads these pages at once.
func (s *mergeSide) fill(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		s.pages[id] = nil
	}
	rows, err := s.from.q.PagesByID(s.from.ctx, db.PagesByIDParams{SpaceID: s.from.spaceID, Revision: s.from.revisionID, Ids: ids})
	if err != nil {
		return interpret(err, "pages")
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

// changedPages gives the pages that are not the same in two revisions, and maybe some that are. It costs what changed, but for
// revisions of before there were branches.
func changedPages(ctx context.Context, q *db.Queries, from, to Revision) ([]string, error) {
	switch {
	case from.ID == to.ID:
		return nil, nil
	case from.Branch == to.Branch && from.Base == nil:
		ids, err := q.ChangedInBranch(ctx, db.ChangedInBranchParams{Branch: to.Branch, After: from.Seq, Seq: to.Seq})
		return ids, interpret(err, "pages")
	case to.Base != nil && *to.Base == from.Branch && to.BaseSeq == from.Seq:
		ids, err := q.PagesOfBranch(ctx, db.PagesOfBranchParams{Branch: to.Branch, Seq: to.Seq})
		return ids, interpret(err, "pages")
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
