package docs

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// homeTwin is the name of the first page's Markdown version.
const homeTwin = "home"

var markdownTemplates = template.Must(template.New("").Funcs(template.FuncMap{"cell": cell, "join": join}).
	ParseFS(templateFiles, "templates/*.md.tmpl"))

// markdown renders a page as Markdown, for agents and for reading without a browser.
func (s *site) markdown(p *page) ([]byte, error) {
	if p.Guide != nil {
		return p.Guide.Markdown, nil
	}
	var b bytes.Buffer
	err := markdownTemplates.ExecuteTemplate(&b, "page.md.tmpl", struct {
		*page
		Site *site
	}{p, s})
	return b.Bytes(), err
}

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

func join(values any, separator string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", separator)
}

// llms returns the file /llms.txt: links to the Markdown version of each page, with a sentence about it
// (https://llmstxt.org).
func (s *site) llms() []byte {
	var b bytes.Buffer
	b.WriteString("# Octavo\n\n> A self-hosted API for documentation sites: content, sites and readers' insights.\n\n" +
		"Programs written for the client @gitbook/api work unchanged. " +
		"The OpenAPI document is at [v1/openapi.json](v1/openapi.json).\n\n## Guides\n\n")
	for _, g := range s.guides {
		name := g.Name
		if name == "" {
			name = homeTwin
		}
		fmt.Fprintf(&b, "- [%s](docs/%s.md): %s\n", g.Title, name, g.Doc)
	}
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", section.Title)
		for _, g := range section.Groups {
			fmt.Fprintf(&b, "- [%s](docs/%s.md): %s\n", g.Title, g.Tag, g.Doc)
		}
	}
	return b.Bytes()
}

// listed is a section on the page that lists all operations.
type listed struct {
	Title string
	Pages []*page
}

// Sections lists the pages of operations by section.
func (s *site) Sections() (all []listed) {
	for _, section := range sections {
		entry := listed{Title: section.Title}
		for _, g := range section.Groups {
			entry.Pages = append(entry.Pages, s.groups[g.Tag])
		}
		all = append(all, entry)
	}
	return all
}

// Anchor returns the anchor of the operation's heading in Markdown.
func (o operation) Anchor() string { return strings.ToLower(o.ID) }
