package pdf

import (
	_ "embed"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Main is the name of the file with which the renderer starts.
const Main = "main.typ"

//go:embed main.typ
var layout []byte

// Version changes with what is rendered for the same pages, so that kept results of another one are not served.
const Version = 4

// Page is a page of a space, without its text. Level is its depth in the document, 0 at the top.
type Page struct {
	ID, Title, Emoji, Description string
	Level                         int
}

// Source is what a document is made of.
type Source struct {
	Title, Emoji string
	// Subtitle and Date are shown on the cover if they are not empty.
	Subtitle, Date string
	// Language is one of schema.Languages, or "".
	Language string
	// Pages are in reading order.
	Pages []Page
	// Document reads the text of a page by its index. It is called once for each, in order, and its result is dropped before
	// the next call. Its references have the titles of what they lead to.
	Document func(i int) (schema.Document, error)
	// Image reads a file of the space that is shown as an image; nil bytes stand for one that is not there.
	Image func(id string) ([]byte, error)
}

// File is a file of the renderer's input.
type File struct {
	Name    string
	Content []byte
}

// Files yields the renderer's input. It holds one page and one image at a time. The bytes belong to the caller.
func Files(s Source) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		if err := write(s, yield); err != nil {
			yield(File{}, err)
		}
	}
}

// info is what the layout knows of the whole document.
type info struct {
	Title    string     `json:"title"`
	Emoji    string     `json:"emoji"`
	Subtitle string     `json:"subtitle"`
	Date     string     `json:"date"`
	Lang     string     `json:"lang"`
	Dir      string     `json:"dir"`
	Pages    int        `json:"pages"`
	Anchors  [][]string `json:"anchors"` // of each page
}

// sheet is a page with its text.
type sheet struct {
	Title       string `json:"title"`
	Emoji       string `json:"emoji"`
	Description string `json:"description"`
	Level       int    `json:"level"`
	Lang        string `json:"lang"`
	Dir         string `json:"dir"`
	Blocks      []node `json:"c"`
}

// maxLevel is the deepest level of a page's title: what is below it is shown like it.
const maxLevel = 6

// write returns nil if yield wants no more.
func write(s Source, yield func(File, error) bool) error {
	send := func(name string, value any) (bool, error) {
		text, err := json.Marshal(value, json.Deterministic(true))
		return err == nil && yield(File{name, text}, nil), err
	}
	b := newBuilder(s)
	about := info{
		Title: b.plain(s.Title), Emoji: b.emoji(s.Emoji), Subtitle: b.plain(s.Subtitle), Date: b.plain(s.Date), Pages: len(s.Pages),
		Anchors: make([][]string, len(s.Pages)),
	}
	about.Lang = b.bookLanguage()
	about.Dir = directionOf(about.Title, about.Lang)
	for i, page := range s.Pages {
		document, err := s.Document(i)
		if err != nil {
			return err
		}
		b.begin(i, document)
		made := sheet{
			Title: b.plain(page.Title), Emoji: b.emoji(page.Emoji), Description: b.plain(page.Description),
			Level: max(0, min(page.Level, maxLevel)), Lang: b.lang, Dir: b.dir, Blocks: b.blocks(document.Nodes),
		}
		about.Anchors[i] = b.anchors
		more, err := send(fmt.Sprintf("pages/%d.json", i), made)
		if !more || err != nil {
			return err
		}
	}
	if more, err := b.sendImages(s.Image, yield); !more || err != nil {
		return err
	}
	more, err := send("formulas.json", b.formulas)
	if more && err == nil {
		more, err = send("info.json", about)
	}
	if more && err == nil {
		yield(File{Main, layout}, nil)
	}
	return err
}

// emoji is an emoji that is given by its characters or their code.
func (b *builder) emoji(text string) string {
	if characters, ok := content.Emoji(text); ok {
		text = characters
	}
	return b.plain(text)
}

// plain is text on one line that can be shown.
func (b *builder) plain(text string) string { return oneLine(content.Clean(text)) }
