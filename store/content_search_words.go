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

// searchVersion is the version of the form in which texts are indexed. If a new release changes it, the next job of
// each space indexes all pages again.
const searchVersion = "1 "

// dictionaries has, for each language that a space can have, the name of Postgres's dictionary for text search. Words
// of other languages are compared unchanged. All these dictionaries exist in Postgres 15 and later. Dictionaries that
// only later versions have, such as the Estonian dictionary of Postgres 18, are left out.
var dictionaries = map[string]string{
	"ar": "arabic_stem", "da": "danish_stem", "de": "german_stem", "el": "greek_stem", "en": "english_stem", "es": "spanish_stem",
	"fi": "finnish_stem", "fr": "french_stem", "hi": "hindi_stem", "hu": "hungarian_stem", "id": "indonesian_stem",
	"it": "italian_stem", "lt": "lithuanian_stem", "nl": "dutch_stem", "no": "norwegian_stem", "pt": "portuguese_stem",
	"pt-br": "portuguese_stem", "ro": "romanian_stem", "ru": "russian_stem", "sv": "swedish_stem", "tr": "turkish_stem",
	// A space without a language uses English.
	"": "english_stem",
}

// searchDictionary returns searchVersion and the name of the dictionary for the index of a space in a language.
func searchDictionary(language string) string {
	dictionary, ok := dictionaries[language]
	if !ok {
		dictionary = "simple"
	}
	return searchVersion + dictionary
}

// passedOver returns the ids of pages that a search must leave out, by space. These are pages that are hidden from a
// visitor, pages that have the words only in text that is hidden from the visitor, and long pages that contain words
// which the query excludes. A long page is indexed in parts. A part without an excluded word would match, although
// another part of the page has the word.
func (s *Store) passedOver(ctx context.Context, search searchPlan, allows Allows) (map[string][]string, error) {
	pages, err := s.hiddenPages(ctx, search.spaces, allows)
	if err != nil {
		return nil, err
	}
	if pages == nil {
		pages = map[string][]string{}
	}
	if len(search.without) > 0 {
		rows, err := s.db.Queries.PartsWith(ctx, search.without)
		if err != nil {
			return nil, postgres.Interpret(err, "pages")
		}
		for _, row := range rows {
			pages[row.SpaceID] = append(pages[row.SpaceID], row.PageID)
		}
	}
	unseen, err := s.foundUnseen(ctx, search, pages, allows)
	if err != nil {
		return nil, err
	}
	for _, row := range unseen {
		pages[row.SpaceID] = append(pages[row.SpaceID], row.PageID)
	}
	return pages, nil
}

// stemsOf looks up words in the dictionaries of indexes. For an index of another version, there are no stems, and the
// words themselves are compared.
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
