package docs

import (
	"bytes"
	"embed"
	"html/template"
	"strings"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// assets are the files in the folder assets that pages load.
var assets = []struct{ Name, Media string }{
	{"docs.css", "text/css; charset=utf-8"},
	{"docs.js", "text/javascript; charset=utf-8"},
	{"icon.svg", "image/svg+xml"},
}

var htmlTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"lower": strings.ToLower, "prose": prose, "route": route,
}).
	ParseFS(templateFiles, "templates/*.html.tmpl"))

// shown is the data of a page's template.
type shown struct {
	*page
	// Root is the path from the page to the root of the server. Docs is the path from the page to the folder of the
	// pages. Both are relative, so that pages also work if a proxy adds a prefix to the paths.
	Root, Docs string
	Guides     []*page
	Sections   any
	Languages  []writer
	Site       *site
}

// Body returns the HTML of the guide, with links to the other pages.
func (s shown) Body() template.HTML {
	return template.HTML(strings.ReplaceAll(string(s.Guide.HTML), linkRoot, s.Docs))
}

// Current reports whether the page with this name is shown.
func (s shown) Current(name string) bool { return s.Name == name }

// Twin returns the address of the page's Markdown version.
func (s shown) Twin() string {
	if s.Name == "" {
		return s.Docs + "/" + homeTwin + ".md"
	}
	return s.Docs + "/" + s.Name + ".md"
}

// All returns the pages of operations in the order of the navigation.
func (s shown) All() (all []*page) {
	for _, g := range groups() {
		all = append(all, s.Site.groups[g.Tag])
	}
	return all
}

// html renders a page.
func (s *site) html(p *page) ([]byte, error) {
	to := shown{page: p, Root: "..", Docs: "../docs", Guides: s.guides, Sections: sections, Languages: writers, Site: s}
	if p.Name == "" {
		to.Root, to.Docs = ".", "docs"
	}
	var b bytes.Buffer
	if err := htmlTemplates.ExecuteTemplate(&b, "page.html.tmpl", to); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// route returns the HTML of a path. On a narrow screen, a browser may break the path before each slash.
func route(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(path), "/", "<wbr>/"))
}

// prose returns the HTML of a sentence. Text between backticks becomes code.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		escaped := template.HTMLEscapeString(part)
		if i%2 == 1 {
			escaped = "<code>" + escaped + "</code>"
		}
		b.WriteString(escaped)
	}
	return template.HTML(b.String())
}
