package store

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
)

// maxSearchTokens is the largest number of words of a page that search can find. Any normal page has fewer words.
// maxTopTokens is the largest number of words in the page's headings that get more weight than other words.
const (
	maxSearchTokens = schema.MaxPage / 2
	maxTopTokens    = 100
)

// searchText is the text of a page that search can find. A long text has several parts, and a search for several words
// finds the words in different parts too.
type searchText struct {
	title, headings, description []words.Token
	parts                        [][]words.Token
	// shown is the text that all visitors see. It is nil if this is the whole text.
	shown *searchText
}

// newSearchText splits the text of a page into words.
func newSearchText(page db.PlacedPagesRow, document schema.Document) searchText {
	plain := content.Plain(document)
	text := textOf(page, document, plain)
	nobody := func(string) bool { return false }
	if document.Nodes = markdown.ForVisitor(document.Nodes, nobody); content.Plain(document) != plain {
		shown := textOf(page, document, content.Plain(document))
		text.shown = &shown
	}
	return text
}

func textOf(page db.PlacedPagesRow, document schema.Document, plain string) searchText {
	return searchText{
		title:       words.Tokens(page.Title, maxSearchTokens),
		headings:    words.Tokens(content.Headings(document), maxTopTokens),
		description: words.Tokens(page.Description, maxSearchTokens),
		parts:       words.Parts(words.Tokens(plain, maxSearchTokens)),
	}
}

// look adds the words whose stems vectors needs.
func (t *searchText) look(at map[string]bool) {
	for _, tokens := range append([][]words.Token{t.title, t.headings, t.description}, t.parts...) {
		for _, token := range tokens {
			if token.Lower != "" {
				at[token.Lower] = true
			}
		}
	}
	if t.shown != nil {
		t.shown.look(at)
	}
}

// indexed has the vectors of a page in the form in which the index stores them.
type indexed struct {
	// top has the words of the title and the headings that all visitors see.
	top, words string
	// parts has the vectors of a long page.
	parts []string
	// known are the words of the vocabulary that all visitors see.
	known []string
}

// maxTogether is the largest size of two vectors that are stored as one.
const maxTogether = 512 << 10

func (t *searchText) indexed(scope string, stems words.Stems) (x indexed) {
	top, vectors := t.vectors(scope, stems)
	x.top, x.words = top.Text, vectors[0].Text
	seen, scopeSeen, mark := vectors, scope, ""
	if t.shown != nil {
		scopeSeen, mark = words.Shown(scope), words.Mark(scope)
		publicTop, _ := t.shown.vectors(scope, stems)
		x.top = publicTop.Text
		_, seen = t.shown.vectors(scopeSeen, stems)
		x.words = vectors[0].Text + seen[0].Text + mark
	}
	for _, vector := range seen {
		x.known = append(x.known, words.Known(scopeSeen, vector.Lexemes)...)
	}
	if len(vectors) == 1 && len(seen) == 1 && (mark == "" || len(x.words) <= maxTogether) {
		return x
	}
	x.words = x.top + mark
	for _, vector := range vectors {
		x.parts = append(x.parts, vector.Text+mark)
	}
	if t.shown != nil {
		for _, vector := range seen {
			x.parts = append(x.parts, vector.Text)
		}
	}
	return x
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
