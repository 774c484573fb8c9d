package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Only the best sectionedPages pages of an answer get sections, and only if their documents have at most sectionedBytes
// bytes. So the cost of a search does not depend on the length of the pages.
const (
	sectionedPages   = 10
	sectionedBytes   = 64 << 10
	sectionsOfPage   = 3
	maxSectionTokens = 1000
	// An excerpt has at most maxExcerpt characters. It begins wordsBefore words before the first word of the search.
	maxExcerpt    = 200
	wordsBefore   = 8
	excerptTokens = 100
)

// FoundSection is a section of a page that contains words of the search. Rank is the page's rank, or less if the
// section lacks some of the words.
type FoundSection struct {
	Anchor  string
	Title   string
	Excerpt string
	Rank    float32
}

// pageRef names a page of a space by its id, or a document of a space by its hash.
type pageRef struct{ space, id string }

// describeFound adds the ancestors and the sections of found pages, which the index does not have.
func (s *Store) describeFound(ctx context.Context, spaces []FoundSpace, search searchPlan, by Sight) error {
	if err := s.placeFound(ctx, spaces); err != nil {
		return err
	}
	return s.cutFound(ctx, spaces, search, by)
}

// cutFound adds sections to the best pages: the sections with words of the search.
func (s *Store) cutFound(ctx context.Context, spaces []FoundSpace, search searchPlan, by Sight) error {
	type found struct {
		*FoundPage
		in string
	}
	var best []found
	for _, space := range spaces {
		for i := range space.Pages {
			if page := &space.Pages[i]; page.document != "" && page.Rank > 0 {
				best = append(best, found{page, space.SpaceID})
			}
		}
	}
	slices.SortStableFunc(best, func(a, b found) int { return cmp.Compare(b.Rank, a.Rank) })
	best = best[:min(len(best), sectionedPages)]
	if len(best) == 0 {
		return nil
	}
	read := db.FoundDocumentsParams{Most: sectionedBytes}
	for _, page := range best {
		read.Spaces, read.Hashes = append(read.Spaces, page.in), append(read.Hashes, page.document)
	}
	rows, err := s.db.Queries.FoundDocuments(ctx, read)
	if err != nil {
		return postgres.Interpret(err, "documents")
	}
	contents := make(map[pageRef][]byte, len(rows))
	for _, row := range rows {
		contents[pageRef{row.SpaceID, row.Hash}] = row.Content
	}
	for _, page := range best {
		stored, small := contents[pageRef{page.in, page.document}]
		if !small {
			continue
		}
		text, err := postgres.FromJSON[Text](stored)
		if err != nil {
			return err
		}
		if !keys.Complete(text.Document) {
			keys.Assign(&text.Document, nil)
		}
		// The index has all text of a page. Excerpts leave out text that only some visitors see, so that they do not
		// reveal it.
		text.Document.Nodes = markdown.ForVisitor(text.Document.Nodes, func(string) bool { return false })
		document, err := s.NamedInText(ctx, by, page.in, "", text.Document)
		if err != nil {
			return err
		}
		page.Sections = sectionsWith(content.Sections(document), search.matchers[page.in], page.Rank)
	}
	return nil
}

// sectionsWith returns the sections with words of the search. The section with the most words is first.
func sectionsWith(sections []content.Section, m words.Matcher, rank float32) (list []FoundSection) {
	lines, whole := map[string][]string{}, 0
	for _, section := range sections {
		if whole == sectionsOfPage { // these sections have all words, so no later section can be better
			break
		}
		count := m.Count(section.Title+"\n"+strings.Join(section.Lines, "\n"), maxSectionTokens)
		if count == 0 || section.Anchor == "" {
			continue
		}
		list = append(list, FoundSection{
			Anchor: section.Anchor, Title: section.Title, Rank: rank * float32(count) / float32(m.Terms()),
		})
		lines[section.Anchor] = section.Lines
		if count == m.Terms() {
			whole++
		}
	}
	slices.SortStableFunc(list, func(a, b FoundSection) int { return cmp.Compare(b.Rank, a.Rank) })
	list = list[:min(len(list), sectionsOfPage)]
	for i := range list {
		list[i].Excerpt = excerpt(lines[list[i].Anchor], m)
	}
	return list
}

// excerpt returns a part of the first line that contains a word of the search. If only the section's heading contains
// such a word, it returns the beginning of the section's first line.
func excerpt(lines []string, m words.Matcher) string {
	line := ""
	if len(lines) > 0 {
		line = lines[max(0, slices.IndexFunc(lines, func(line string) bool { return m.Count(line, maxSectionTokens) > 0 }))]
	}
	parts := strings.Fields(line)
	at := slices.IndexFunc(parts, func(part string) bool { return m.Count(part, excerptTokens) > 0 })
	from := max(0, at-wordsBefore)
	text := []rune(strings.Join(parts[from:], " "))
	begin, end := "", ""
	if from > 0 {
		begin = "… "
	}
	if len(text) > maxExcerpt {
		text, end = text[:maxExcerpt], "…"
	}
	return begin + string(text) + end
}

// placeFound adds the titles of the pages' ancestors. If no page has an ancestor, it does not query the database. The
// titles are from the newest revision, which may be newer than the index.
func (s *Store) placeFound(ctx context.Context, spaces []FoundSpace) error {
	var above db.TitlesAboveParams
	for _, space := range spaces {
		for _, page := range space.Pages {
			if strings.Contains(page.Path, "/") {
				above.Spaces, above.Pages = append(above.Spaces, space.SpaceID), append(above.Pages, page.PageID)
			}
		}
	}
	if len(above.Pages) == 0 {
		return nil
	}
	rows, err := s.db.Queries.TitlesAbove(ctx, above)
	if err != nil {
		return postgres.Interpret(err, "pages")
	}
	titles := make(map[pageRef][]string, len(above.Pages))
	for _, row := range rows {
		at := pageRef{row.SpaceID, row.PageID}
		titles[at] = append(titles[at], row.Title)
	}
	for _, space := range spaces {
		for i := range space.Pages {
			page := &space.Pages[i]
			page.Ancestors = titles[pageRef{space.SpaceID, page.PageID}]
			slices.Reverse(page.Ancestors)
		}
	}
	return nil
}
