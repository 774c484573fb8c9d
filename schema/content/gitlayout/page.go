package gitlayout

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/frontmatter"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/respell"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// pageFile has the parts of a page's file. In all parts except `mark` and `original`, lines end with line feeds.
type pageFile struct {
	mark     string // the byte order mark at the start of the file, or ""
	original string // the text of the file without the mark, unchanged
	front    frontmatter.Fields
	// `imports` has the lines of MDX at the file's start that import components. Readers do not see these lines.
	imports string
	// `lead` has the blank lines before the heading, `heading` has the heading's lines, and `rest` has the text after
	// the heading.
	lead, heading, rest string
	headingText         string
	headingData         schema.Data // data of the heading, such as its anchor
}

const byteOrderMark = "\ufeff"

func parsePage(text string) *pageFile {
	f := &pageFile{}
	if rest, ok := strings.CutPrefix(text, byteOrderMark); ok {
		f.mark, text = byteOrderMark, rest
	}
	f.original, text = text, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	// Front matter that cannot be read is a part of the text.
	f.front, f.rest, _ = frontmatter.Split(text)
	for found := importLine.FindString(f.rest); found != ""; found = importLine.FindString(f.rest) {
		f.imports, f.rest = f.imports+found, f.rest[len(found):]
	}
	for {
		line, rest, more := strings.Cut(f.rest, "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		f.lead, f.rest = f.lead+line+"\n", rest
	}
	f.findHeading()
	return f
}

// importLine matches a line that imports components, such as import Tabs from '@theme/Tabs'.
var importLine = regexp.MustCompile(`^(?:[ \t]*\n)*import[ \t]+(?:` + imported + `(?:[ \t]*,[ \t]*` + imported +
	`)?\s+from\s+)?(?:"[^"\n]+"|'[^'\n]+');?[ \t]*(?:\n|$)`)

const imported = `(?:[\w$]+|\*[ \t]+as[ \t]+[\w$]+|\{[\w$,\s]*\})`

var underline = regexp.MustCompile(`^ {0,3}=+[ \t]*$`)

// findHeading removes a heading of level 1 from the start of `rest`.
func (f *pageFile) findHeading() {
	first, rest, _ := strings.Cut(f.rest, "\n")
	size := len(f.rest) - len(rest)
	if found := headingLine.FindStringSubmatch(first); found == nil || len(found[1]) != 1 {
		second, after, _ := strings.Cut(rest, "\n")
		if !underline.MatchString(second) {
			return
		}
		size = len(f.rest) - len(after)
	}
	d, err := markdown.Read(f.rest[:size])
	if err != nil || len(d.Nodes) != 1 || d.Nodes[0].Type != "heading-1" {
		return
	}
	if f.headingText = cutText(content.InlineText(d.Nodes[0].Nodes), maxTitle); f.headingText != "" {
		f.heading, f.rest, f.headingData = f.rest[:size], f.rest[size:], d.Nodes[0].Data
	}
}

// titleFrom is the source of a page's title.
type titleFrom int

const (
	titleInEntry titleFrom = iota // the title is the text of the entry in the table of contents
	titleInFront
	titleInHeading
	titleInName // the title is the name of the file
)

func (f *pageFile) title(entry *Entry) (string, titleFrom) {
	if entry.Title != "" {
		return cutText(entry.Title, maxTitle), titleInEntry
	}
	if text, ok := f.front.Text("title"); ok && cutText(text, maxTitle) != "" {
		return cutText(text, maxTitle), titleInFront
	}
	if f.headingText != "" {
		return f.headingText, titleInHeading
	}
	return cutText(titleOfFile(entry.Key), maxTitle), titleInName
}

// body returns the Markdown of the page's document. If the heading is the page's title, the Markdown does not contain
// the heading.
func (f *pageFile) body(title string) string {
	if f.headingText == title {
		return f.rest
	}
	return f.lead + f.heading + f.rest
}

// These constants are the largest numbers of characters in a page's values. The API has the same limits.
const (
	maxTitle       = 256
	maxLabel       = 100
	maxDescription = 1000
	maxIcon        = 50
)

func cutText(text string, longest int) string {
	text = oneLine(content.Clean(strings.ToValidUTF8(text, "\ufffd")))
	if utf8.RuneCountInString(text) > longest {
		text = strings.TrimSpace(string([]rune(text)[:longest]))
	}
	return text
}

// pageField connects an attribute of a page with a field of the front matter.
type pageField struct {
	name string
	get  func(p *tree.Page) any // get is nil if the attribute is not set
	set  func(p *tree.Page, front *frontmatter.Fields, name string)
}

func textField(name string, longest int, of func(*tree.Page) *string, ok func(string) bool) pageField {
	return pageField{name,
		func(p *tree.Page) any {
			if *of(p) == "" {
				return nil
			}
			return *of(p)
		},
		func(p *tree.Page, front *frontmatter.Fields, name string) {
			*of(p) = ""
			text, _ := front.Text(name)
			text = content.Clean(strings.ToValidUTF8(text, "\ufffd"))
			if utf8.RuneCountInString(text) > longest || ok != nil && !ok(text) {
				return // the file has values that a page cannot have, so the field stays unchanged
			}
			*of(p) = text
		},
	}
}

func flagField(name string, of func(*tree.Page) *bool) pageField {
	return pageField{name,
		func(p *tree.Page) any {
			if !*of(p) {
				return nil
			}
			return true
		},
		func(p *tree.Page, front *frontmatter.Fields, name string) { *of(p), _ = front.Flag(name) },
	}
}

var pageFields = []pageField{
	textField("description", maxDescription, func(p *tree.Page) *string { return &p.Description }, nil),
	textField("icon", maxIcon, func(p *tree.Page) *string { return &p.Icon }, nil),
	textField("emoji", maxIcon, func(p *tree.Page) *string { return &p.Emoji }, nil),
	textField("if", condition.MaxLength, func(p *tree.Page) *string { return &p.Condition }, condition.ValidOrEmpty),
	flagField("hidden", func(p *tree.Page) *bool { return &p.Hidden }),
	flagField("noIndex", func(p *tree.Page) *bool { return &p.NoIndex }),
	flagField("noRobotsIndex", func(p *tree.Page) *bool { return &p.NoRobotsIndex }),
}

// readInto sets the attributes of a page.
func (f *pageFile) readInto(p *tree.Page, entry *Entry) {
	p.Title, _ = f.title(entry)
	p.LinkTitle = entry.label()
	for _, field := range pageFields {
		field.set(p, &f.front, field.name)
	}
}

// document reads the page's text. `tooLarge` is true if the text is too large for a document.
func (f *pageFile) document(title string) (d schema.Document, tooLarge bool, err error) {
	body := f.body(title)
	if len(strings.Trim(body, "\n")) > schema.MaxPage {
		return d, true, nil
	}
	d, err = markdown.Read(body)
	if errors.Is(err, markdown.ErrTooLarge) {
		return d, true, nil
	}
	return d, false, err
}

// change writes the attributes that differ between two states of a page. `entries` is true if titles are also in the
// table of contents.
func (f *pageFile) change(before, after *tree.Page, entries bool) error {
	none := len(f.front.Names()) == 0
	for _, field := range pageFields {
		if value := field.get(after); value != field.get(before) {
			if err := f.front.Set(field.name, value); err != nil {
				return err
			}
		}
	}
	if before.Title != after.Title {
		front, given := f.front.Text("title")
		inFront := given && cutText(front, maxTitle) == before.Title
		if inFront {
			if err := f.front.Set("title", after.Title); err != nil {
				return err
			}
		}
		if f.headingText == before.Title || !inFront && !entries {
			f.setHeading(after.Title)
		}
	}
	switch after := f.imports + f.lead; {
	case !none || len(f.front.Names()) == 0 || strings.HasPrefix(after, "\n"):
	case f.imports != "":
		f.imports = "\n" + f.imports
	default:
		f.lead = "\n"
	}
	return nil
}

func (f *pageFile) setHeading(title string) {
	end := ""
	if f.heading == "" && strings.TrimSpace(f.rest) != "" {
		end = "\n"
	}
	heading := schema.Block("heading-1", schema.Text(oneLine(title)))
	heading.Data = f.headingData
	f.heading, f.headingText = oneLine(markdown.Write(schema.NewDocument(heading)))+"\n"+end, title
}

// inlineText writes plain text as one line of Markdown.
func inlineText(text string) string {
	paragraph := markdown.Write(schema.NewDocument(schema.Block("paragraph", schema.Text(oneLine(text)))))
	return oneLine(strings.ReplaceAll(paragraph, "\n", " "))
}

// setBody replaces the file's document with d. In d, references must be spelled as in the file.
func (f *pageFile) setBody(title string, d schema.Document) {
	rest := f.rest
	whole := f.headingText != title
	if whole {
		rest = f.heading + rest
	}
	text := strings.TrimLeft(rest, "\n")
	blank := rest[:len(rest)-len(text)]
	if text == "" && blank == "" && !whole && f.heading != "" {
		blank = "\n"
	}
	edited := strings.TrimLeft(markdown.Edit(text, d), "\n")
	if edited != "" && !strings.HasSuffix(edited, "\n") && (text == "" || strings.HasSuffix(text, "\n")) {
		edited += "\n"
	}
	if edited == "" {
		blank = ""
	}
	if edited != "" && f.heading != "" && !strings.HasSuffix(f.heading, "\n") {
		f.heading += "\n"
	}
	if f.rest = blank + edited; whole {
		f.heading, f.headingText = "", ""
	}
}

// text returns the whole file.
func (f *pageFile) text() string {
	return f.mark + respell.Ends(f.original, f.front.Join(f.imports+f.lead+f.heading+f.rest))
}
