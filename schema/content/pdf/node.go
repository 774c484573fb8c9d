package pdf

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// node is a part of a document as the layout reads it: Kind is the name of a row in the layout's table `kinds`. A
// member is absent if nodes of this kind do not use it.
type node struct {
	Kind     string `json:"k,omitempty"`
	Children []node `json:"c,omitzero"`
	// Text is shown unchanged.
	Text  *string `json:"t,omitzero"`
	Marks string  `json:"m,omitempty"`
	Color string  `json:"color,omitempty"`
	Back  string  `json:"back,omitempty"`
	Dir   string  `json:"dir,omitempty"`
	Align string  `json:"align,omitempty"`
	Style string  `json:"style,omitempty"`
	Tag   *string `json:"tag,omitzero"`
	// Page, Anchor and To are the target of a link: the index of a page, an anchor on this page, or an address.
	Page   *int   `json:"page,omitzero"`
	Anchor string `json:"anchor,omitempty"`
	To     string `json:"to,omitempty"`
	// ID is the label of a heading.
	ID string `json:"id,omitempty"`
	// Number is the depth of a heading or the first number of a list.
	Number *int  `json:"n,omitzero"`
	Tight  *bool `json:"tight,omitzero"`
	Done   *bool `json:"done,omitzero"`
	// Formula is the index of a formula in the list of all formulas.
	Formula *int    `json:"f,omitzero"`
	Title   *string `json:"title,omitzero"`
	Lang    *string `json:"lang,omitzero"`
	Lines   bool    `json:"lines,omitzero"`
	Marked  []int   `json:"marked,omitempty"`
	// Source names the file of an image. Width is in pixels, and Share is a fraction of the available width.
	Source   string    `json:"src,omitempty"`
	Width    float64   `json:"w,omitzero"`
	Share    float64   `json:"share,omitzero"`
	Original bool      `json:"original,omitzero"`
	Note     []node    `json:"note,omitempty"`
	Widths   []float64 `json:"widths,omitempty"`
	Head     *bool     `json:"head,omitzero"`
	Columns  []column  `json:"columns,omitempty"`
	Rows     [][]node  `json:"rows,omitzero"`
	// Words are the parts of Text that may be wider than their line. Long is true for a block that contains such words.
	// Narrow is true for a cell that contains such a block.
	Words  []word `json:"words,omitempty"`
	Long   bool   `json:"long,omitzero"`
	Narrow bool   `json:"narrow,omitzero"`
}

func text(s string) *string { return &s }

// maxDepth bounds the nesting of blocks. The renderer refuses documents that are nested more deeply. Deeper blocks are
// shown as plain text.
const maxDepth = 10

// builder turns documents into nodes.
type builder struct {
	Source
	index    map[string]int // index of each page in the PDF, by id
	language string         // language of the space
	// These fields describe the current page.
	page      int
	lang, dir string
	depth     int
	share     float64 // fraction of the sheet's width, or 0 for the whole width
	anchors   []string
	// These fields describe all pages.
	images map[string]string // names in the renderer's input, by the file's id
	wanted []string          // ids of the files of images, in the order of their names
	// formulas has the formulas as TeX, without duplicates. `places` has the index of each formula in this list.
	formulas []string
	places   map[string]int
	labels   content.OptionLabels // labels of the options in tables
}

func newBuilder(s Source) *builder {
	b := &builder{Source: s, index: make(map[string]int, len(s.Pages)), images: map[string]string{}, places: map[string]int{}}
	b.labels = content.OptionLabels{}
	for i, page := range s.Pages {
		b.index[page.ID] = i
	}
	b.language = languageOf(s.Language)
	b.dir = directionOf("", b.language)
	return b
}

// formula makes the node of a formula. If the renderer cannot convert the formula, the layout shows the TeX source.
func (b *builder) formula(kind string, n *schema.Node) node {
	tex := content.Label(n)
	place, known := b.places[tex]
	if !known {
		place = len(b.formulas)
		b.places[tex], b.formulas = place, append(b.formulas, tex)
	}
	return node{Kind: kind, Text: &tex, Formula: &place}
}

// begin prepares the builder for a page.
func (b *builder) begin(page int, d schema.Document) {
	b.page, b.depth, b.share, b.anchors = page, 0, 0, []string{}
	sample := sampleOf(b.Pages[page].Title, d)
	b.lang = languageIn(sample, b.language)
	b.dir = directionOf(b.Pages[page].Title+sample, b.lang)
}

// forget removes the images and formulas of earlier pages from the builder.
func (b *builder) forget() {
	b.formulas, b.wanted = nil, nil
	clear(b.places)
	clear(b.images)
}

// defaultLanguage is used if a space has no language.
const defaultLanguage = "en"

// typesetLanguages maps the codes of languages to typst's codes, if the two codes differ.
var typesetLanguages = map[string]string{"": defaultLanguage, "pt-br": "pt", "no": "nb", "yue": "zh"}

func languageOf(language string) string {
	if known, ok := typesetLanguages[language]; ok {
		return known
	}
	return language
}

// sampleSize is the number of bytes of a page's text that are used to determine the page's script.
const sampleSize = 4 << 10

func sampleOf(title string, d schema.Document) string {
	b := strings.Builder{}
	b.WriteString(title)
	for i := range d.Nodes {
		if b.Len() > sampleSize {
			break
		}
		b.WriteString(content.InlineText(d.Nodes[i].Nodes))
	}
	return b.String()[:min(b.Len(), sampleSize)]
}

// languageIn returns the language of a text if the glyphs of its script depend on the language. The same ideographs
// look different in Japanese, Korean and Chinese. For a text in another script, it returns `otherwise`.
func languageIn(sample, otherwise string) string {
	var han, kana, hangul int
	for _, r := range sample {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.Is(unicode.Han, r):
			han++
		}
	}
	switch {
	case kana > 0 && kana >= hangul && otherwise != "zh":
		return "ja"
	case hangul > 0 && hangul > han:
		return "ko"
	case han > 0 && otherwise != "ja" && otherwise != "ko":
		return "zh"
	}
	return otherwise
}

// scriptLanguages maps some scripts to a language. The words on the cover and in the contents are in this language.
var scriptLanguages = []struct {
	script   *unicode.RangeTable
	language string
}{{unicode.Arabic, "ar"}, {unicode.Hebrew, "he"}, {unicode.Cyrillic, "ru"}, {unicode.Greek, "el"}}

// bookLanguage returns the language of the cover and the contents. If the space has a language, it is this language.
// Otherwise it follows from the script of most letters in the titles.
func (b *builder) bookLanguage() string {
	if b.Language != "" {
		return b.language
	}
	titles := b.Title
	for _, page := range b.Pages {
		titles += " " + page.Title
	}
	letters, found := 0, make([]int, len(scriptLanguages))
	for _, r := range titles {
		if unicode.IsLetter(r) {
			letters++
		}
		for i := range scriptLanguages {
			if unicode.Is(scriptLanguages[i].script, r) {
				found[i]++
			}
		}
	}
	for i, n := range found {
		if 2*n > letters {
			return scriptLanguages[i].language
		}
	}
	return languageIn(titles, b.language)
}

const (
	leftToRight = "ltr"
	rightToLeft = "rtl"
)

var rightToLeftLanguages = map[string]bool{"ar": true, "he": true}

// directionOf returns the direction of a paragraph. As UAX #9 requires, it is the direction of the first character that
// has a direction. If no character has a direction, it is the surrounding direction. `around` is the surrounding
// direction, or a language.
func directionOf(text, around string) string {
	for _, r := range text {
		properties, _ := bidi.LookupRune(r)
		switch properties.Class() {
		case bidi.L:
			return leftToRight
		case bidi.R, bidi.AL:
			return rightToLeft
		default:
		}
	}
	if around == rightToLeft || rightToLeftLanguages[around] {
		return rightToLeft
	}
	return leftToRight
}

// turn returns the direction of a block's text. It returns "" if the text has the direction of the page.
func (b *builder) turn(text string) string {
	if dir := directionOf(text, b.dir); dir != b.dir {
		return dir
	}
	return ""
}

// oneLine replaces line breaks by spaces, and removes characters that strings of a PDF cannot have.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}

// labelOf returns the name of an anchor's place on a page. The layout makes the same name from the same values.
func labelOf(page int, anchor string) string { return "a" + strconv.Itoa(page) + "-" + anchor }

// placeOf returns the name of a page's place. The layout makes the same name from the same values.
func placeOf(page int) string { return "p" + strconv.Itoa(page) }
