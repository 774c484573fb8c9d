package store

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// FoundPage is a page that a search found. A higher Rank is a better match. Number is the place of the page in the
// list of all found pages, from 1. A search of one space does not set Number, because only the caller knows how many
// results come before the current page of the list.
type FoundPage struct {
	PageID      string
	Title       string
	Description string
	Path        string
	Rank        float32
	Number      int64
	// Ancestors are the titles of the pages above the page, from the top.
	Ancestors []string
	// Sections are the page's sections that contain words of the search. Only the best pages have sections.
	Sections []FoundSection
	document string
}

// FoundSpace is a space in which a search found pages, with the best of these pages.
type FoundSpace struct {
	SpaceID string
	Title   string
	Best    float32
	Pages   []FoundPage
}

// SearchSpace finds pages in a space's current content by words, the best match first. It finds only pages that the
// reader may see.
func (s *Store) SearchSpace(
	ctx context.Context, by Sight, spaceID, query string, after *postgres.Cursor[float32], size int,
) (postgres.Page[FoundPage], error) {
	rows, err := s.db.Queries.SearchedSpace(ctx, spaceID)
	if err != nil {
		return postgres.Page[FoundPage]{}, postgres.Interpret(err, "spaces")
	}
	search, err := s.search(ctx, by, query, spacesOf(rows))
	if err != nil || len(search.spaces) == 0 {
		return postgres.Page[FoundPage]{}, err
	}
	hidden, err := s.passedOver(ctx, search, by.Allows)
	if err != nil {
		return postgres.Page[FoundPage]{}, err
	}
	from := after.OrFirst(postgres.MaxRank)
	found, err := s.db.Queries.SearchSpace(ctx, db.SearchSpaceParams{
		SpaceID: spaceID, Query: search.queries[0], Exact: search.exacts[0], Title: search.title,
		Terms: search.terms[0],
		After: -from.Key, AfterID: from.ID, PageSize: postgres.PageSize(size), Hidden: append(
			[]string{}, hidden[spaceID]...,
		),
	})
	if err != nil {
		return postgres.Page[FoundPage]{}, postgres.Interpret(err, "pages")
	}
	if len(found) == 0 && after != nil {
		// Each row contains the total number. If no rows are left, read the first row again to get the total number.
		first, err := s.SearchSpace(ctx, by, spaceID, query, nil, 1)
		return postgres.Page[FoundPage]{Total: first.Total}, err
	}
	var total int64
	pages := make([]FoundPage, len(found))
	for i, row := range found {
		total = row.Total
		pages[i] = FoundPage{PageID: row.PageID, Title: row.Title, Description: row.Description, Path: row.Path, Rank: row.Rank, document: row.Document}
	}
	if err := s.describeFound(ctx, []FoundSpace{{SpaceID: spaceID, Pages: pages}}, search, by); err != nil {
		return postgres.Page[FoundPage]{}, err
	}
	return postgres.PageOf(pages, size, total), nil
}

// SearchOrganization finds the spaces whose current content has the words of the query, the best match first. It
// searches only spaces that the viewer may see.
func (s *Store) SearchOrganization(
	ctx context.Context, viewer postgres.Viewer, organizationID, query string, after *postgres.Cursor[float32],
	size int,
) (postgres.Page[FoundSpace], error) {
	rows, err := s.db.Planned.SearchedSpacesOfOrganization(ctx, db.SearchedSpacesOfOrganizationParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: viewer.Role.Nullable(),
	})
	if err != nil {
		return postgres.Page[FoundSpace]{}, postgres.Interpret(err, "spaces")
	}
	return s.searchSpaces(ctx, Sight{UserID: viewer.UserID}, query, spacesOf(rows), after, size)
}

// SiteSearch selects the part of a site that is searched. SiteSpaces are the site spaces to search. nil means all site
// spaces that are not hidden. If Defaults is true, only the default site space of each section is searched. In the
// section of Current, the site space Current is searched instead. Without is a site space that is not searched.
type SiteSearch struct {
	OrganizationID string
	SiteID         string
	SiteSpaces     []string
	Defaults       bool
	Current        *string
	Without        *string
	// Shown are the site spaces that a visitor of the site may see. It is nil for a member of the organization.
	Shown []string
	// By determines which pages are shown, and which names excerpts may contain.
	By Sight
}

// SearchSite finds a site's spaces whose current content has the words of the query, the best match first. It searches
// only spaces that the viewer may see.
func (s *Store) SearchSite(
	ctx context.Context, viewer postgres.Viewer, in SiteSearch, query string, after *postgres.Cursor[float32], size int,
) (postgres.Page[FoundSpace], error) {
	if in.Shown != nil {
		viewer.Role = schema.RoleAdmin // for a visitor, only Shown restricts the spaces
	}
	rows, err := s.db.Planned.SearchedSpacesOfSite(ctx, db.SearchedSpacesOfSiteParams{
		UserID: viewer.UserID, OrganizationID: in.OrganizationID, Role: viewer.Role.Nullable(), SiteID: in.SiteID, SiteSpaces: in.SiteSpaces,
		Defaults: in.Defaults, Current: in.Current, Without: in.Without, Shown: in.Shown,
	})
	if err != nil {
		return postgres.Page[FoundSpace]{}, postgres.Interpret(err, "spaces")
	}
	return s.searchSpaces(ctx, in.By, query, spacesOf(rows), after, size)
}

func (s *Store) searchSpaces(
	ctx context.Context, by Sight, query string, spaces []db.SearchedSpaceRow, after *postgres.Cursor[float32],
	size int,
) (postgres.Page[FoundSpace], error) {
	search, err := s.search(ctx, by, query, spaces)
	if err != nil || len(search.spaces) == 0 {
		return postgres.Page[FoundSpace]{}, err
	}
	hidden, err := s.passedOver(ctx, search, by.Allows)
	if err != nil {
		return postgres.Page[FoundSpace]{}, err
	}
	without := []string{}
	for space, pages := range hidden {
		for _, page := range pages {
			without = append(without, space+"/"+page)
		}
	}
	from := after.OrFirst(postgres.MaxRank)
	wanted := db.SearchSpacesParams{
		Spaces: search.spaces, Queries: search.queries, Exacts: search.exacts, Title: search.title,
		After: -from.Key, AfterID: from.ID, PageSize: postgres.PageSize(size), Hidden: without,
	}
	for i, terms := range search.terms {
		for _, term := range terms {
			wanted.TermSpaces, wanted.Terms = append(wanted.TermSpaces, search.spaces[i]), append(wanted.Terms, term)
			wanted.TermCounts = append(wanted.TermCounts, int32(len(terms)))
		}
	}
	rows, err := s.db.Queries.SearchSpaces(ctx, wanted)
	if err != nil {
		return postgres.Page[FoundSpace]{}, postgres.Interpret(err, "spaces")
	}
	if len(rows) == 0 && after != nil {
		first, err := s.searchSpaces(ctx, by, query, spaces, nil, 1)
		return postgres.Page[FoundSpace]{Total: first.Total}, err
	}
	titles := make(map[string]string, len(spaces))
	for _, space := range spaces {
		titles[space.ID] = space.Title
	}
	var total int64
	var found []FoundSpace
	for _, row := range rows {
		if len(found) == 0 || found[len(found)-1].SpaceID != row.SpaceID {
			found = append(found, FoundSpace{SpaceID: row.SpaceID, Title: titles[row.SpaceID], Best: row.Best})
		}
		space := &found[len(found)-1]
		space.Pages = append(space.Pages, FoundPage{
			PageID: row.PageID, Title: row.Title, Description: row.Description, Path: row.Path, Rank: row.Rank, Number: row.Number,
			document: row.Document,
		})
		total = row.Total
	}
	if err := s.describeFound(ctx, found, search, by); err != nil {
		return postgres.Page[FoundSpace]{}, err
	}
	return postgres.PageOf(found, size, total), nil
}

// spacesOf converts the rows of queries with the same columns to one type.
func spacesOf[T db.SearchedSpaceRow | db.SearchedSpacesOfOrganizationRow | db.SearchedSpacesOfSiteRow](rows []T) []db.SearchedSpaceRow {
	spaces := make([]db.SearchedSpaceRow, len(rows))
	for i, row := range rows {
		spaces[i] = db.SearchedSpaceRow(row)
	}
	return spaces
}

// searchPlan has the words to search for in each space. If the query has no words, the plan has no spaces.
type searchPlan struct {
	// title is the title that a page must have to match exactly.
	title                   string
	spaces, queries, exacts []string
	// terms has the words that a page must have, for each space. `without` has the words that a page must not have.
	terms   [][]string
	without []string
	// matchers find the words of the query in the texts of each space.
	matchers map[string]words.Matcher
	// visible has, for a visitor, the searches in the text that all visitors see. It is nil for users.
	visible []visibleSearch
}

// search parses a query and plans its search with the dictionaries and vocabularies of spaces.
func (s *Store) search(
	ctx context.Context, by Sight, text string, spaces []db.SearchedSpaceRow,
) (searchPlan, error) {
	query := words.ParseQuery(text)
	if query.None() || len(spaces) == 0 {
		return searchPlan{}, nil
	}
	look, indexes := map[string]bool{}, []string{}
	for _, word := range query.Dictionary() {
		look[word] = true
	}
	for _, space := range spaces {
		if !slices.Contains(indexes, space.Dictionary) {
			indexes = append(indexes, space.Dictionary)
		}
	}
	stems, err := stemsOf(ctx, s.db.Queries, look, indexes...)
	if err != nil {
		return searchPlan{}, err
	}
	meant, err := s.meant(ctx, query, spaces)
	if err != nil {
		return searchPlan{}, err
	}
	plan := searchPlan{title: strings.ToLower(strings.TrimSpace(content.Clean(text))), matchers: make(map[string]words.Matcher, len(spaces))}
	for _, space := range spaces {
		scope := words.Scope(space.Number)
		compiled := query.Compile(scope, stems[space.Dictionary], meant)
		if by.Allows != nil {
			shown := query.Compile(words.Shown(scope), stems[space.Dictionary], meant)
			plan.visible = append(plan.visible, visibleSearch{
				spaceID: space.ID, scope: scope, dictionary: space.Dictionary, whole: compiled, shown: shown,
			})
			compiled = visibly(compiled, shown, words.Mark(scope))
		}
		plan.spaces, plan.queries = append(plan.spaces, space.ID), append(plan.queries, compiled.All)
		plan.exacts, plan.terms = append(plan.exacts, compiled.Exact), append(plan.terms, compiled.Terms)
		if compiled.Without != "" {
			plan.without = append(plan.without, compiled.Without)
		}
		plan.matchers[space.ID] = query.Matcher(stems[space.Dictionary], meant)
	}
	return plan, nil
}

// meant returns likely corrections of the query's misspelled words, by word. A word is misspelled if no page of the
// spaces has it.
func (s *Store) meant(ctx context.Context, query words.Query, spaces []db.SearchedSpaceRow) (map[string][]string, error) {
	doubtful := query.Doubtful()
	if len(doubtful) == 0 {
		return nil, nil
	}
	var unknown db.UnknownWordsParams
	for _, space := range spaces {
		unknown.Numbers = append(unknown.Numbers, space.Number)
	}
	for _, d := range doubtful {
		end := d.Word
		if d.Begins {
			end += string(utf8.MaxRune)
		}
		unknown.Words, unknown.Ends = append(unknown.Words, d.Word), append(unknown.Ends, end)
	}
	misspelled, err := s.db.Queries.UnknownWords(ctx, unknown)
	if err != nil {
		return nil, postgres.Interpret(err, "words")
	}
	meant := make(map[string][]string, len(misspelled))
	for _, word := range misspelled {
		var keys []string
		for _, number := range unknown.Numbers {
			keys = append(keys, words.Keys(words.Scope(number), word)...)
		}
		rows, err := s.db.Queries.NearWords(ctx, keys)
		if err != nil {
			return nil, postgres.Interpret(err, "words")
		}
		candidates := make([]words.Candidate, len(rows))
		for i, row := range rows {
			candidates[i] = words.Candidate{Word: row.Word, Pages: row.Pages}
		}
		meant[word] = words.Meant(word, candidates)
	}
	return meant, nil
}
