package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// A transaction writes at most indexBatch pages, and at most indexBytes of their documents. So only a part of a large
// space's text is in memory at any time, and each statement is short.
const (
	indexBatch = 100
	indexBytes = 4 << 20
)

// maxSearchTokens is the largest number of words of a page that search can find. Any normal page has fewer words.
// maxTopTokens is the largest number of words in the page's headings that get more weight than other words.
const (
	maxSearchTokens = schema.MaxPage / 2
	maxTopTokens    = 100
)

// IndexSpace updates a space's search index to the newest revision. It writes the differences between the indexed
// revision and the newest revision. If no revision is indexed, it writes all pages. It works in short transactions and
// does not lock the space. So merges can continue, and IndexSpace also indexes the revisions that they create. After an
// interruption, the next call continues where the last call stopped. For a deleted space, it does nothing.
func (s *Store) IndexSpace(ctx context.Context, spaceID string) error {
	work := indexing{spaceID: spaceID}
	for done := false; !done; {
		err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
			done, err = work.step(ctx, q)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// indexAgain enqueues a job for each space whose index a migration has made outdated. Until the job has run, searches
// use the existing rows of the index.
func indexAgain(ctx context.Context, conn *pgx.Conn) error {
	rows, err := db.New(conn).SpacesToIndexAgain(ctx)
	if err != nil {
		return postgres.Interpret(err, "spaces")
	}
	for _, row := range rows {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			return postgres.Enqueue(ctx, db.New(tx), schema.IndexSpace{Organization: row.OrganizationID, Space: row.ID})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// indexing updates the index of a space from the indexed revision to a target revision.
type indexing struct {
	spaceID string
	// from is the id of the indexed revision. target is the revision that the index will have. ids are the sorted ids
	// of pages that may differ between both revisions.
	from   string
	target Revision
	ids    []string
}

// step updates the index for one batch of pages. The ids of the indexed revision and of the target revision and the
// progress are in the space's row in the table search_spaces, which every step locks. So after an interruption, another
// process continues to the same target, and pages of an older revision never overwrite pages of a newer revision.
func (x *indexing) step(ctx context.Context, q *db.Queries) (done bool, err error) {
	// The space is locked before its index. The deletion of a space locks in the same order, so that no deadlock
	// occurs.
	kept, err := q.KeepSpace(ctx, x.spaceID)
	if err != nil || len(kept) == 0 {
		return err == nil, postgres.Interpret(err, "space")
	}
	state, err := lockIndexed(ctx, q, x.spaceID)
	if err != nil {
		return false, err
	}
	if state.Target == "" {
		// This read comes after the lock, so it sees the changes of the lock's previous holder.
		space, err := q.SpaceByID(ctx, x.spaceID)
		if err != nil {
			return false, postgres.Interpret(err, "space")
		}
		dictionary := searchDictionary(postgres.Deref(space.Language))
		if state.Dictionary != dictionary {
			state.Revision, state.Dictionary = "", dictionary
		}
		if state.Revision == space.Revision {
			return true, nil
		}
		state.Target, state.Reached = space.Revision, ""
	}
	if err := x.plan(ctx, q, &state); err != nil {
		return false, err
	}
	at, found := slices.BinarySearch(x.ids, state.Reached)
	if found {
		at++
	}
	batch := x.ids[at:min(at+indexBatch, len(x.ids))]
	if len(batch) == 0 {
		state.Revision, state.Target, state.Reached = state.Target, "", ""
	} else if state.Reached, err = x.write(ctx, q, state, batch); err != nil {
		return false, err
	}
	return false, postgres.Interpret(q.SetIndexedSpace(ctx, db.SetIndexedSpaceParams{
		SpaceID: state.SpaceID, Revision: state.Revision, Dictionary: state.Dictionary, Target: state.Target, Reached: state.Reached,
	}), "search")
}

func lockIndexed(ctx context.Context, q *db.Queries, spaceID string) (db.SearchSpace, error) {
	for {
		rows, err := q.LockIndexedSpace(ctx, spaceID)
		if err != nil {
			return db.SearchSpace{}, postgres.Interpret(err, "search")
		}
		if len(rows) > 0 {
			return rows[0], nil
		}
		if err := q.InsertIndexedSpace(ctx, spaceID); err != nil {
			return db.SearchSpace{}, postgres.Interpret(err, "search")
		}
	}
}

// plan finds the pages that may differ between the indexed revision and the target revision. The two revisions never
// change, so each process finds the same pages. If no revision is indexed, plan finds all pages.
func (x *indexing) plan(ctx context.Context, q *db.Queries, state *db.SearchSpace) error {
	if x.target.ID == state.Target && x.from == state.Revision {
		return nil
	}
	target, err := revision(ctx, q, x.spaceID, state.Target)
	if err != nil {
		return err
	}
	from, err := revision(ctx, q, x.spaceID, state.Revision)
	if err != nil && !schema.IsCode(err, schema.CodeNotFound) {
		return err
	}
	var ids []string
	if from.Branch == target.Branch {
		ids, err = q.PagesToIndex(ctx, db.PagesToIndexParams{SpaceID: x.spaceID, After: from.Seq, Seq: target.Seq})
	} else {
		state.Revision = ""
		ids, err = q.AllPagesToIndex(ctx, db.AllPagesToIndexParams{SpaceID: x.spaceID, Seq: target.Seq})
	}
	slices.Sort(ids)
	x.from, x.target, x.ids = state.Revision, target, ids
	return postgres.Interpret(err, "pages")
}

// write updates the index for pages, and returns the id of the last page that it has written.
func (x *indexing) write(ctx context.Context, q *db.Queries, state db.SearchSpace, ids []string) (reached string, err error) {
	placed, err := q.PlacedPages(ctx, db.PlacedPagesParams{SpaceID: x.spaceID, Seq: x.target.Seq, Ids: ids})
	if err != nil {
		return "", postgres.Interpret(err, "pages")
	}
	rows, err := q.IndexedPages(ctx, db.IndexedPagesParams{SpaceID: x.spaceID, PageIds: ids})
	if err != nil {
		return "", postgres.Interpret(err, "pages")
	}
	there := make(map[string]db.PlacedPagesRow, len(rows))
	for _, row := range rows {
		there[row.PageID] = db.PlacedPagesRow(row)
	}
	wanted := make(map[string]db.PlacedPagesRow, len(placed))
	var changed []db.PlacedPagesRow
	for _, page := range placed {
		wanted[page.PageID] = page
		was, ok := there[page.PageID]
		was.Path = page.Path
		if state.Revision == "" || !ok || was != page {
			changed = append(changed, page)
		}
	}
	slices.SortFunc(changed, func(a, b db.PlacedPagesRow) int { return strings.Compare(a.PageID, b.PageID) })
	texts, size, err := textsOf(ctx, q, x.spaceID, changed)
	if err != nil {
		return "", err
	}
	reached = ids[len(ids)-1]
	if size < len(changed) {
		changed, reached = changed[:size], changed[size-1].PageID
	}
	place := db.PlaceSearchPagesParams{SpaceID: x.spaceID}
	rewritten := make([]string, len(changed))
	for i, page := range changed {
		rewritten[i] = page.PageID
	}
	var gone []string
	for _, id := range ids {
		page, want := wanted[id]
		was, ok := there[id]
		switch {
		case id > reached || !ok:
		case !want:
			gone = append(gone, id)
		case was.Path != page.Path && !slices.Contains(rewritten, id):
			place.Ids, place.Paths = append(place.Ids, id), append(place.Paths, page.Path)
		}
	}
	if len(place.Ids) > 0 {
		if err := q.PlaceSearchPages(ctx, place); err != nil {
			return "", postgres.Interpret(err, "pages")
		}
	}
	return reached, x.rewrite(ctx, q, state, changed, texts, slices.Concat(rewritten, gone), gone)
}

// textsOf reads the documents of pages, and returns the number of pages whose documents it read.
func textsOf(ctx context.Context, q *db.Queries, spaceID string, pages []db.PlacedPagesRow) (map[string]Text, int, error) {
	hashes := make([]string, len(pages))
	for i, page := range pages {
		hashes[i] = page.Document
	}
	return documentsWithin(ctx, q, spaceID, hashes, indexBytes)
}

// searchText is the text of a page that search can find. A long text has several parts, and a search for several words
// finds the words in different parts too.
type searchText struct {
	title, headings, description []words.Token
	parts                        [][]words.Token
}

// vectors returns the words of the title and the headings, and the words of each part. The first part also has the
// words of the title, the headings and the description.
func (t *searchText) vectors(scope string, stems words.Stems) (top words.Words, parts []words.Words) {
	title := words.Field{Weight: words.Title, Tokens: t.title}
	headings := words.Field{Weight: words.Heading, Tokens: t.headings}
	top = words.Vector(scope, stems, title, headings)
	for i, part := range t.parts {
		fields := []words.Field{{Weight: words.Body, Tokens: part}}
		if i == 0 {
			fields = append([]words.Field{title, headings, {Weight: words.Body, Tokens: t.description}}, fields...)
		}
		parts = append(parts, words.Vector(scope, stems, fields...))
	}
	return top, parts
}

// rewrite updates the words of pages in the index, and the number of pages that have each word. `before` has the pages
// that may have old words in the index. `gone` has the pages whose words are all removed.
func (x *indexing) rewrite(
	ctx context.Context, q *db.Queries, state db.SearchSpace, pages []db.PlacedPagesRow, texts map[string]Text, before, gone []string,
) error {
	if len(before) == 0 {
		return nil
	}
	scope, vocabulary := words.Scope(state.Number), map[string]int32{}
	older, err := q.LexemesOfPages(ctx, db.LexemesOfPagesParams{SpaceID: x.spaceID, PageIds: before})
	if err != nil {
		return postgres.Interpret(err, "pages")
	}
	counted := map[string]map[string]bool{}
	count := func(page string, lexemes []string, change int32) {
		if counted[page] == nil {
			counted[page] = map[string]bool{}
		}
		for _, word := range words.Known(scope, lexemes) {
			if !counted[page][word] {
				counted[page][word] = true
				vocabulary[word] += change
			}
		}
	}
	for _, row := range older {
		count(row.PageID, row.Lexemes, -1)
	}
	clear(counted)
	parts, look := make([]searchText, len(pages)), map[string]bool{}
	for i, page := range pages {
		document := texts[page.Document].Document
		parts[i] = searchText{
			title:       words.Tokens(page.Title, maxSearchTokens),
			headings:    words.Tokens(content.Headings(document), maxTopTokens),
			description: words.Tokens(page.Description, maxSearchTokens),
			parts:       words.Parts(words.Tokens(content.Plain(document), maxSearchTokens)),
		}
		for _, tokens := range append([][]words.Token{parts[i].title, parts[i].headings, parts[i].description},
			parts[i].parts...) {
			for _, t := range tokens {
				if t.Lower != "" {
					look[t.Lower] = true
				}
			}
		}
	}
	stems, err := stemsOf(ctx, q, look, state.Dictionary)
	if err != nil {
		return err
	}
	rows := db.UpsertSearchPagesParams{SpaceID: x.spaceID}
	var long []db.InsertSearchPartParams
	for i, page := range pages {
		rows.Ids, rows.Titles = append(rows.Ids, page.PageID), append(rows.Titles, page.Title)
		rows.Paths, rows.Documents = append(rows.Paths, page.Path), append(rows.Documents, page.Document)
		rows.Descriptions = append(rows.Descriptions, page.Description)
		top, vectors := parts[i].vectors(scope, stems[state.Dictionary])
		rows.Tops = append(rows.Tops, top.Text)
		if len(vectors) == 1 {
			rows.Words = append(rows.Words, vectors[0].Text)
		} else {
			rows.Words = append(rows.Words, top.Text)
		}
		for n, vector := range vectors {
			count(page.PageID, vector.Lexemes, 1)
			if len(vectors) > 1 {
				long = append(
					long,
					db.InsertSearchPartParams{
						SpaceID: x.spaceID,
						PageID:  page.PageID,
						Part:    int32(n),
						Words:   vector.Text,
					},
				)
			}
		}
	}
	if len(gone) > 0 {
		if err := q.DeleteSearchPages(ctx, db.DeleteSearchPagesParams{SpaceID: x.spaceID, PageIds: gone}); err != nil {
			return postgres.Interpret(err, "pages")
		}
	}
	if len(pages) > 0 {
		if err := q.UpsertSearchPages(ctx, rows); err != nil {
			return postgres.Interpret(err, "pages")
		}
		if err := q.DeleteSearchParts(ctx, db.DeleteSearchPartsParams{SpaceID: x.spaceID,
			PageIds: rows.Ids}); err != nil {
			return postgres.Interpret(err, "pages")
		}
	}
	for _, part := range long {
		if err := q.InsertSearchPart(ctx, part); err != nil {
			return postgres.Interpret(err, "pages")
		}
	}
	return countWords(ctx, q, state.Number, vocabulary)
}

// wordsAtOnce is the largest number of words that one statement counts.
const wordsAtOnce = 5_000

// countWords adds changes to the number of pages that have each word.
func countWords(ctx context.Context, q *db.Queries, number int64, changes map[string]int32) error {
	// The words are sorted, because neighbouring words are in the same pages of the database's indexes.
	for list := range slices.Chunk(slices.Sorted(maps.Keys(changes)), wordsAtOnce) {
		if err := countSome(ctx, q, number, list, changes); err != nil {
			return err
		}
	}
	return nil
}

func countSome(ctx context.Context, q *db.Queries, number int64, list []string, changes map[string]int32) error {
	scope, count := words.Scope(number), db.AddSearchWordsParams{Number: number}
	var fewer []string
	for _, word := range list {
		pages := changes[word]
		if pages < 0 {
			fewer = append(fewer, word)
		}
		if pages != 0 {
			count.Words, count.Pages = append(count.Words, word), append(count.Pages, pages)
			count.Keys = append(count.Keys, strings.Join(words.Keys(scope, word), "\n"))
		}
	}
	if len(count.Words) == 0 {
		return nil
	}
	if err := q.AddSearchWords(ctx, count); err != nil || len(fewer) == 0 {
		return postgres.Interpret(err, "words")
	}
	return postgres.Interpret(q.DeleteSearchWords(ctx, db.DeleteSearchWordsParams{
		Number: number, Words: fewer,
	}), "words")
}
