package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// guide is a text from the folder guides.
type guide struct {
	Markdown []byte
	HTML     template.HTML
}

// guides are the texts in the order of the navigation. The first guide is the first page of the reference.
var guides = []struct{ Name, Title, Doc string }{
	{"home", "Octavo", "What Octavo is, where to begin, errors and limits."},
	{"start", "Start", "From nothing to the first event and the first answer."},
	{"tracker", "Count readers", "Put the tracker on your pages, and see that it works."},
	{"cookbook", "Questions and answers", "Questions about readers, as requests with their answers."},
	{"agents", "Agents", "Tell people from agents, and see what agents read."},
	{"privacy", "Privacy text", "A text about the figures for your readers, to copy."},
}

//go:embed guides/*.md
var guideFiles embed.FS

func readGuides() ([]*page, error) {
	var pages []*page
	for i, g := range guides {
		source, err := guideFiles.ReadFile("guides/" + g.Name + ".md")
		if err != nil {
			return nil, err
		}
		html, err := renderGuide(source)
		if err != nil {
			return nil, fmt.Errorf("cannot render %s: %w", g.Name, err)
		}
		name := g.Name
		if i == 0 {
			name = ""
		}
		text := &guide{Markdown: source, HTML: html}
		pages = append(pages, &page{Name: name, Title: g.Title, Doc: g.Doc, Guide: text})
	}
	return pages, nil
}

var markdownWriter = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(
		parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(pageLinks{}, 100)),
	),
)

// renderGuide converts a guide to HTML. Guides must not contain HTML, because goldmark omits it.
func renderGuide(source []byte) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdownWriter.Convert(source, &b); err != nil {
		return "", err
	}
	out := strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`)
	out = strings.ReplaceAll(out, "<table>", `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>`)
	return template.HTML(strings.ReplaceAll(out, "</table>", "</table></div>")), nil
}

// pageLinks replaces links to Markdown files, such as tracker.md, by links to pages. So a link in a guide works in the
// repository, in the Markdown that the server sends, and on the pages.
type pageLinks struct{}

func (pageLinks) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(pageLink(string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// linkRoot stands, in the HTML of guides, for the path to the folder that has the pages. Body replaces it by the
// relative path from the shown page.
const linkRoot = "@docs@"

func pageLink(destination string) string {
	file, anchor, found := strings.Cut(destination, "#")
	name, ok := strings.CutSuffix(file, ".md")
	if !ok || strings.Contains(file, "/") {
		return destination
	}
	to := linkRoot + "/" + name
	if name == homeTwin {
		to = linkRoot
	}
	if found {
		to += "#" + anchor
	}
	return to
}
