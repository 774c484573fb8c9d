package store

import (
	"context"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// visiblePages is the largest number of pages of which a search reads the text that a visitor sees. It leaves out
// further pages that have the words only in text for some visitors.
const visiblePages = 20

// visibleSearch is a visitor's search in a space. whole is the query for the whole text of pages. shown is the query
// for the text that all visitors see, which the index has for pages with other text.
type visibleSearch struct {
	spaceID, scope, dictionary string
	whole, shown               words.Compiled
}

// visibly returns a visitor's query. Excluded words that only some visitors see exclude no page. Otherwise a visitor
// could try which words are in hidden text.
func visibly(whole, shown words.Compiled, mark string) words.Compiled {
	if whole.Without != "" {
		whole.All = "((" + whole.All + ") & !" + mark + ") | (" + shown.All + ")"
		whole.Without = "((" + whole.Without + ") & !" + mark + ") | (" + shown.Without + ")"
	}
	return whole
}

// foundUnseen returns the pages that a search finds only by words in text that the visitor does not see.
func (s *Store) foundUnseen(
	ctx context.Context, search searchPlan, allows Allows,
) ([]db.PagesFoundUnseenRow, error) {
	if len(search.visible) == 0 {
		return nil, nil
	}
	var wanted db.PagesFoundUnseenParams
	for _, in := range search.visible {
		mark := words.Mark(in.scope)
		wanted.Spaces = append(wanted.Spaces, in.spaceID)
		wanted.Queries = append(wanted.Queries, mark+" & ("+in.whole.All+") & !("+in.shown.All+")")
		wanted.PartQueries = append(wanted.PartQueries, mark+" & ("+strings.Join(in.whole.Terms, " | ")+")")
		for _, term := range in.shown.Terms {
			wanted.TermSpaces, wanted.Terms = append(wanted.TermSpaces, in.spaceID), append(wanted.Terms, term)
		}
	}
	rows, err := s.db.Queries.PagesFoundUnseen(ctx, wanted)
	if err != nil || len(rows) == 0 {
		return nil, postgres.Interpret(err, "pages")
	}
	seen, err := s.foundByVisitor(ctx, search, rows, allows)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(row db.PagesFoundUnseenRow) bool {
		return seen[pageRef{row.SpaceID, row.PageID}]
	}), nil
}

// foundByVisitor returns the pages whose text has the words of a search, if it is read as the visitor sees it.
func (s *Store) foundByVisitor(
	ctx context.Context, search searchPlan, rows []db.PagesFoundUnseenRow, allows Allows,
) (map[pageRef]bool, error) {
	read := db.FoundDocumentsParams{Most: sectionedBytes}
	for _, row := range rows[:min(len(rows), visiblePages)] {
		read.Spaces, read.Hashes = append(read.Spaces, row.SpaceID), append(read.Hashes, row.Document)
	}
	documents, err := s.db.Queries.FoundDocuments(ctx, read)
	if err != nil {
		return nil, postgres.Interpret(err, "documents")
	}
	contents := make(map[pageRef][]byte, len(documents))
	for _, row := range documents {
		contents[pageRef{row.SpaceID, row.Hash}] = row.Content
	}
	texts, look := make([]searchText, 0, len(rows)), map[string]bool{}
	var pages []db.PagesFoundUnseenRow
	for _, row := range rows {
		stored, small := contents[pageRef{row.SpaceID, row.Document}]
		if !small {
			continue
		}
		text, err := postgres.FromJSON[Text](stored)
		if err != nil {
			return nil, err
		}
		text.Document.Nodes = markdown.ForVisitor(text.Document.Nodes, allows)
		visible := newSearchText(db.PlacedPagesRow{Title: row.Title, Description: row.Description}, text.Document)
		visible.look(look)
		texts, pages = append(texts, visible), append(pages, row)
	}
	return s.matching(ctx, search, pages, texts, look)
}

// matching returns the pages whose texts match a search. look has the words of the texts.
func (s *Store) matching(
	ctx context.Context, search searchPlan, pages []db.PagesFoundUnseenRow, texts []searchText, look map[string]bool,
) (map[pageRef]bool, error) {
	seen := map[pageRef]bool{}
	if len(pages) == 0 {
		return seen, nil
	}
	var indexes []string
	for _, in := range search.visible {
		indexes = append(indexes, in.dictionary)
	}
	stems, err := stemsOf(ctx, s.db.Queries, look, postgres.Distinct(indexes)...)
	if err != nil {
		return nil, err
	}
	var check db.PagesMatchingParams
	places := map[string]pageRef{}
	for i, page := range pages {
		at := slices.IndexFunc(search.visible, func(in visibleSearch) bool { return in.spaceID == page.SpaceID })
		in := search.visible[at]
		_, vectors := texts[i].vectors(in.scope, stems[in.dictionary])
		place := page.SpaceID + "/" + page.PageID
		places[place] = pageRef{page.SpaceID, page.PageID}
		check.PageIds, check.Words = append(check.PageIds, place), append(check.Words, vectors[0].Text)
		check.Queries = append(check.Queries, in.whole.All)
	}
	matching, err := s.db.Queries.PagesMatching(ctx, check)
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	for _, place := range matching {
		seen[places[place]] = true
	}
	return seen, nil
}
