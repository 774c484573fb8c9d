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

// Version is a part of the key of cached PDFs. Increase it if the same pages are rendered differently. Otherwise
// readers would get cached PDFs of the previous version.
const Version = 7

// Page is a page of a space, without its text. Level is the depth of the page in the document. It is 0 at the top.
type Page struct {
	ID, Title, Emoji, Description string
	Level                         int
}

// Source has everything that a PDF shows.
type Source struct {
	Title, Emoji string
	// Subtitle and Date are shown on the cover if they are not empty.
	Subtitle, Date string
	// Language is one of schema.Languages, or "" if it is unknown.
	Language string
	// Pages are in reading order.
	Pages []Page
	// Document reads the text of a page by its index. Measure reads all pages once, and each rendering reads the pages
	// of its part again. When the next call begins, the result of the previous call is no longer used. In a result,
	// references contain the titles of their targets.
	Document func(i int) (schema.Document, error)
	// Image reads a file of the space that an image shows. It returns nil bytes if the file is missing.
	Image func(id string) ([]byte, error)
}

// File is a file of the renderer's input.
type File struct {
	Name    string
	Content []byte
}

// Files yields the renderer's input for all pages. At any time, only one page and one image are in memory. The caller
// may keep the bytes of a file.
func Files(s Source) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		w := writer{builder: newBuilder(s), yield: yield}
		anchors := make([][]string, len(s.Pages))
		for i := range s.Pages {
			anchors[i] = w.page(i, nil, false)
		}
		w.rest(anchors, nil)
	}
}

// info is the layout's data about the whole document.
type info struct {
	Title    string     `json:"title"`
	Emoji    string     `json:"emoji"`
	Subtitle string     `json:"subtitle"`
	Date     string     `json:"date"`
	Lang     string     `json:"lang"`
	Dir      string     `json:"dir"`
	Pages    int        `json:"pages"`
	Anchors  [][]string `json:"anchors"` // the anchors of each page
	Part     *partInfo  `json:"part,omitzero"`
}

// sheet is a page with its text, in the form that the layout reads.
type sheet struct {
	Title       string `json:"title"`
	Emoji       string `json:"emoji"`
	Description string `json:"description"`
	Level       int    `json:"level"`
	Lang        string `json:"lang"`
	Dir         string `json:"dir"`
	Blocks      []node `json:"c"`
	// Continued is true if the previous part contains the title and the earlier blocks of this page.
	Continued bool `json:"continued,omitzero"`
}

// maxLevel is the deepest level of a page's title. Titles of deeper pages look like titles of this level.
const maxLevel = 6

func levelOf(page Page) int { return max(0, min(page.Level, maxLevel)) }

// writer yields the files of the input for one PDF.
type writer struct {
	*builder
	yield func(File, error) bool
	ended bool // whether an error has occurred, or yield has returned false
}

func (w *writer) send(name string, content []byte, err error) {
	switch {
	case w.ended:
	case err != nil:
		w.ended = true
		w.yield(File{}, err)
	default:
		w.ended = !w.yield(File{name, content}, nil)
	}
}

func (w *writer) sendJSON(name string, value any) {
	if w.ended {
		return
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	w.send(name, text, err)
}

// page yields a page, and returns its anchors. `cut` removes blocks that do not belong to the part. It may be nil.
func (w *writer) page(i int, cut func(*schema.Document) error, continued bool) []string {
	if w.ended {
		return nil
	}
	document, err := w.Document(i)
	if err != nil {
		w.send("", nil, err)
		return nil
	}
	w.begin(i, document)
	if cut != nil {
		if err := cut(&document); err != nil {
			w.send("", nil, err)
			return nil
		}
	}
	page := w.Pages[i]
	made := sheet{
		Title: w.plain(page.Title), Emoji: w.emoji(page.Emoji), Description: w.plain(page.Description),
		Level: levelOf(page), Lang: w.lang, Dir: w.dir, Blocks: w.blocks(document.Nodes), Continued: continued,
	}
	w.sendJSON(fmt.Sprintf("pages/%d.json", i), made)
	return w.anchors
}

// rest yields the files that follow the pages.
func (w *writer) rest(anchors [][]string, part *partInfo) {
	if w.ended {
		return
	}
	about := info{
		Title: w.plain(w.Title), Emoji: w.emoji(w.Emoji), Subtitle: w.plain(w.Subtitle), Date: w.plain(w.Date),
		Pages: len(w.Pages), Anchors: anchors, Part: part,
	}
	about.Lang = w.bookLanguage()
	about.Dir = directionOf(about.Title, about.Lang)
	w.sendImages()
	w.sendJSON("formulas.json", w.formulas)
	w.sendJSON("info.json", about)
	w.send(Main, layout, nil)
}

// emoji returns the characters of an emoji. `text` contains these characters or their code.
func (b *builder) emoji(text string) string {
	if characters, ok := content.Emoji(text); ok {
		text = characters
	}
	return b.plain(text)
}

// plain returns a text as one line, without characters that cannot be shown.
func (b *builder) plain(text string) string { return oneLine(content.Clean(text)) }
