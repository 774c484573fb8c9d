package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// searchVersion is the version of the indexed form of a text. After a new version, each space's next job indexes
// everything again.
const searchVersion = "1 "

// dictionaries has the dictionaries of Postgres's text search by the language of a space. Words of other languages are
// compared unchanged. Postgres 18 has additional ones, such as Estonian, but every version since 15 has these.
var dictionaries = map[string]string{
	"ar": "arabic_stem", "da": "danish_stem", "de": "german_stem", "el": "greek_stem", "en": "english_stem", "es": "spanish_stem",
	"fi": "finnish_stem", "fr": "french_stem", "hi": "hindi_stem", "hu": "hungarian_stem", "id": "indonesian_stem",
	"it": "italian_stem", "lt": "lithuanian_stem", "nl": "dutch_stem", "no": "norwegian_stem", "pt": "portuguese_stem",
	"pt-br": "portuguese_stem", "ro": "romanian_stem", "ru": "russian_stem", "sv": "swedish_stem", "tr": "turkish_stem",
	// If a space has no language, English is used.
	"": "english_stem",
}

// searchDictionary returns the version and dictionary of the index of a space in a language.
func searchDictionary(language string) string {
	dictionary, ok := dictionaries[language]
	if !ok {
		dictionary = "simple"
	}
	return searchVersion + dictionary
}

// passedOver returns the pages to leave out, by space: pages that are hidden from a visitor. It also returns long pages
// that contain words which the query excludes. A long page is indexed in parts, and a part does not have the other
// parts' words.
func (s *Store) passedOver(ctx context.Context, search searchPlan, allows Allows) (map[string][]string, error) {
	pages, err := s.hiddenPages(ctx, search.spaces, allows)
	if err != nil || len(search.without) == 0 {
		return pages, err
	}
	rows, err := s.db.Queries.PartsWith(ctx, search.without)
	if err != nil {
		return nil, postgres.Interpret(err, "pages")
	}
	if pages == nil {
		pages = map[string][]string{}
	}
	for _, row := range rows {
		pages[row.SpaceID] = append(pages[row.SpaceID], row.PageID)
	}
	return pages, nil
}

// stemsOf looks up words in the dictionaries of indexes. For an index of another version, it uses the words themselves.
func stemsOf(ctx context.Context, q *db.Queries, look map[string]bool, indexes ...string) (map[string]words.Stems, error) {
	stems := make(map[string]words.Stems, len(indexes))
	names := make([]string, 0, len(indexes))
	for _, index := range indexes {
		if name, current := strings.CutPrefix(index, searchVersion); current {
			stems[index] = words.Stems{}
			names = append(names, name)
		}
	}
	for list := range slices.Chunk(slices.Collect(maps.Keys(look)), wordsAtOnce) {
		rows, err := q.Stems(ctx, db.StemsParams{Words: list, Dictionaries: names})
		if err != nil {
			return nil, postgres.Interpret(err, "words")
		}
		for _, row := range rows {
			if row.Known {
				stems[searchVersion+row.Dictionary][row.Word] = row.Stem
			}
		}
	}
	return stems, nil
}
