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

// Sections are shown of the best pages of an answer, and of documents up to a size, so that what a search costs does not depend on
// how much the pages say.
const (
	sectionedPages   = 10
	sectionedBytes   = 64 << 10
	sectionsOfPage   = 3
	maxSectionTokens = 1000
	// An excerpt has so many characters, from a few words before the first that was looked for.
	maxExcerpt    = 200
	wordsBefore   = 8
	excerptTokens = 100
)

// FoundSection is a part of a page that has words of a search. Rank is that of the page, or less if it does not have all words.
type FoundSection struct {
	Anchor  string
	Title   string
	Excerpt string
	Rank    float32
}

// pageRef names a page, or a document, of a space.
type pageRef struct{ space, id string }

// describeFound gives the pages what a search shows of them beside their index.
func (s *Store) describeFound(ctx context.Context, spaces []FoundSpace, search searchPlan, by Sight) error {
	if err := s.placeFound(ctx, spaces); err != nil {
		return err
	}
	return s.cutFound(ctx, spaces, search, by)
}

// cutFound gives the best pages the sections in which the words are.
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
		// A search finds whole pages; what only some visitors see of them is in no excerpt.
		text.Document.Nodes = markdown.ForVisitor(text.Document.Nodes, func(string) bool { return false })
		document, err := s.NamedInText(ctx, by, page.in, "", text.Document)
		if err != nil {
			return err
		}
		page.Sections = sectionsWith(content.Sections(document), search.matchers[page.in], page.Rank)
	}
	return nil
}

// sectionsWith gives the sections that have most of the words, in that order.
func sectionsWith(sections []content.Section, m words.Matcher, rank float32) (list []FoundSection) {
	lines, whole := map[string][]string{}, 0
	for _, section := range sections {
		if whole == sectionsOfPage { // No other can come before these.
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

// excerpt is from the first line with a word of the search, or the beginning if only the heading has one.
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

// placeFound gives the pages their ancestors. It asks the database only for pages that have some. Titles are those of the newest
// revision, which may be ahead of the index.
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
