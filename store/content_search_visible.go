package store

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// A search reads the text that a visitor sees of at most visiblePages pages, the smallest first. Their documents have
// at most visibleBytes bytes together. The search leaves out further pages that have the words only in text for some
// visitors. It reads documents in batches of visibleBatch bytes, and each larger document alone.
const (
	visiblePages = 200
	visibleBytes = 4 << 20
	visibleBatch = 256 << 10
)

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
		whole.All = "((" + whole.All + ") & !" + mark + ") | (" + marked(whole, shown, mark) + ")"
		whole.Without = "((" + whole.Without + ") & !" + mark + ") | (" + shown.Without + ")"
	}
	return whole
}

// marked returns the query for pages with text that is only for some visitors. The whole text has the wanted words. The
// text that all visitors see has no excluded words.
func marked(whole, shown words.Compiled, mark string) string {
	query := mark + " & " + whole.Wanted()
	if shown.Without != "" {
		query += " & !(" + shown.Without + ")"
	}
	return query
}

// foundUnseen returns the pages that a search finds only by words in text that the visitor does not see. It omits
// pages that are passed over anyway.
func (s *Store) foundUnseen(
	ctx context.Context, search searchPlan, passed map[string][]string, allows Allows,
) ([]db.PagesFoundUnseenRow, error) {
	if len(search.visible) == 0 {
		return nil, nil
	}
	var wanted db.PagesFoundUnseenParams
	for _, in := range search.visible {
		mark := words.Mark(in.scope)
		wanted.Spaces = append(wanted.Spaces, in.spaceID)
		wanted.Queries = append(wanted.Queries, marked(in.whole, in.shown, mark)+" & !("+in.shown.Wanted()+")")
		for i, term := range in.shown.Terms {
			wanted.TermSpaces, wanted.Terms = append(wanted.TermSpaces, in.spaceID), append(wanted.Terms, term)
			wanted.Wholes = append(wanted.Wholes, mark+" & "+in.whole.Terms[i])
		}
	}
	rows, err := s.db.Queries.PagesFoundUnseen(ctx, wanted)
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	rows = slices.DeleteFunc(rows, func(row db.PagesFoundUnseenRow) bool {
		return slices.Contains(passed[row.SpaceID], row.PageID)
	})
	seen := map[pageRef]bool{}
	for _, batch := range visibleBatches(rows) {
		if err := s.foundByVisitor(ctx, search, batch, allows, seen); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(rows, func(row db.PagesFoundUnseenRow) bool {
		return seen[pageRef{row.SpaceID, row.PageID}]
	}), nil
}

// visibleBatches returns the pages whose documents a search reads, in batches that it reads together.
func visibleBatches(rows []db.PagesFoundUnseenRow) (batches [][]db.PagesFoundUnseenRow) {
	from, size, all := 0, int32(0), int32(0)
	for i, row := range rows[:min(len(rows), visiblePages)] {
		if row.Size > visibleBytes-all {
			rows = rows[:i]
			break
		}
		if i > from && row.Size > visibleBatch-size {
			batches = append(batches, rows[from:i])
			from, size = i, 0
		}
		size, all = size+row.Size, all+row.Size
	}
	if rows = rows[from:min(len(rows), visiblePages)]; len(rows) > 0 {
		batches = append(batches, rows)
	}
	return batches
}

// foundByVisitor adds the pages to seen whose text has the words of a search, if it is read as the visitor sees it.
func (s *Store) foundByVisitor(
	ctx context.Context, search searchPlan, rows []db.PagesFoundUnseenRow, allows Allows, seen map[pageRef]bool,
) error {
	read := db.FoundDocumentsParams{Most: visibleBytes}
	for _, row := range rows {
		read.Spaces, read.Hashes = append(read.Spaces, row.SpaceID), append(read.Hashes, row.Document)
	}
	documents, err := s.db.Queries.FoundDocuments(ctx, read)
	if err != nil {
		return postgres.Interpret(err, "documents")
	}
	contents := make(map[pageRef][]byte, len(documents))
	for _, row := range documents {
		contents[pageRef{row.SpaceID, row.Hash}] = row.Content
	}
	texts, look := make([]searchText, 0, len(rows)), map[string]bool{}
	var pages []db.PagesFoundUnseenRow
	for _, row := range rows {
		stored, there := contents[pageRef{row.SpaceID, row.Document}]
		if !there {
			continue
		}
		text, err := postgres.FromJSON[Text](stored)
		if err != nil {
			return err
		}
		visible, shown := text.Document, text.Document
		visible.Nodes = markdown.ForVisitor(text.Document.Nodes, allows)
		shown.Nodes = markdown.ForVisitor(text.Document.Nodes, func(string) bool { return false })
		plain := content.Plain(visible)
		if plain == content.Plain(shown) { // the visitor sees what all see, and this lacks the words
			continue
		}
		seenText := textOf(db.PlacedPagesRow{Title: row.Title, Description: row.Description}, visible, plain)
		seenText.look(look)
		texts, pages = append(texts, seenText), append(pages, row)
	}
	return s.matching(ctx, search, pages, texts, look, seen)
}

// matching adds the pages to seen whose texts match a search. look has the words of the texts.
func (s *Store) matching(
	ctx context.Context, search searchPlan, pages []db.PagesFoundUnseenRow, texts []searchText, look map[string]bool,
	seen map[pageRef]bool,
) error {
	if len(pages) == 0 {
		return nil
	}
	var indexes []string
	for _, in := range search.visible {
		indexes = append(indexes, in.dictionary)
	}
	stems, err := stemsOf(ctx, s.db.Queries, look, postgres.Distinct(indexes)...)
	if err != nil {
		return err
	}
	var check db.PagesMatchingParams
	places := map[string]pageRef{}
	for i, page := range pages {
		at := slices.IndexFunc(search.visible, func(in visibleSearch) bool { return in.spaceID == page.SpaceID })
		in := search.visible[at]
		place := page.SpaceID + "/" + page.PageID
		places[place] = pageRef{page.SpaceID, page.PageID}
		_, vectors := texts[i].vectors(in.scope, stems[in.dictionary])
		for _, vector := range vectors {
			check.PageIds, check.Words = append(check.PageIds, place), append(check.Words, vector.Text)
		}
		for _, term := range in.whole.Terms {
			check.TermPages, check.Terms = append(check.TermPages, place), append(check.Terms, term)
		}
		if in.whole.Without != "" {
			check.ExcludedPages = append(check.ExcludedPages, place)
			check.Excluded = append(check.Excluded, in.whole.Without)
		}
	}
	matching, err := s.db.Queries.PagesMatching(ctx, check)
	if err != nil {
		return postgres.Interpret(err, "pages")
	}
	for _, place := range matching {
		seen[places[place]] = true
	}
	return nil
}
