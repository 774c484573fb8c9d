package docs

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/frame"
)

// Home is the path of the first page. The paths of the other pages begin with it.
const Home = "/docs"

// These are the media types of pages.
const (
	mediaHTML     = "text/html; charset=utf-8"
	mediaMarkdown = "text/markdown; charset=utf-8"
)

// brotliLevel is the level at which pages are compressed. At this level, a large page takes some milliseconds, and
// becomes 5 % larger than at the best level.
const brotliLevel = 7

// Pages returns the pages that describe a table. `describe` returns the OpenAPI document of the table.
func Pages(table frame.Table, describe func() ([]byte, error)) *frame.Pages {
	// The operations are copied, because the server later sets default values in its table. Pages must show the values
	// from before this change.
	table.Operations = slices.Clone(table.Operations)
	return &frame.Pages{
		Paths: []string{Home, Home + "/{page}", "/llms.txt"},
		Build: func() (map[string]frame.Static, error) { return build(table, describe) },
	}
}

// page is a page of the reference: a guide, a group of operations, or the list of all operations.
type page struct {
	// Name is the last part of the page's path; it is "" for the first page.
	Name, Title, Doc string
	// Guide is the text of a guide.
	Guide      *guide
	Operations []operation
	// Index means that the page lists all operations.
	Index bool
}

// site has all pages.
type site struct {
	guides []*page
	// index is the list of all operations.
	index *page
	// groups are the pages of operations, by tag.
	groups map[string]*page
}

// all returns all pages in the order of the navigation.
func (s *site) all() []*page {
	all := append(append([]*page{}, s.guides...), s.index)
	for _, g := range groups() {
		all = append(all, s.groups[g.Tag])
	}
	return all
}

// operations returns the operations in the order of the navigation.
func (s *site) operations() (all []operation) {
	for _, g := range groups() {
		all = append(all, s.groups[g.Tag].Operations...)
	}
	return all
}

// collect describes all operations and reads all guides.
func collect(table frame.Table, describe func() ([]byte, error)) (*site, error) {
	raw, err := describe()
	if err != nil {
		return nil, err
	}
	var from sources
	if err := json.Unmarshal(raw, &from.document); err != nil {
		return nil, fmt.Errorf("cannot read the OpenAPI document: %w", err)
	}
	if from.examples, err = readExamples(); err != nil {
		return nil, err
	}
	if from.client, err = readClient(); err != nil {
		return nil, err
	}
	if from.meanings, err = readMeanings(); err != nil {
		return nil, err
	}
	s := &site{
		groups: map[string]*page{},
		index: &page{
			Name: "operations", Title: "All operations", Doc: "Every operation, with its method and path.", Index: true,
		},
	}
	if s.guides, err = readGuides(); err != nil {
		return nil, err
	}
	for _, g := range groups() {
		s.groups[g.Tag] = &page{Name: g.Tag, Title: g.Title, Doc: g.Doc}
	}
	for i := range table.Operations {
		op := &table.Operations[i]
		group, ok := s.groups[op.Tag]
		if !ok {
			// Only tests of package frame have operations with other tags. TestEveryOperationHasAPage checks that each
			// operation of the API has a page.
			continue
		}
		described, err := from.describe(op)
		if err != nil {
			return nil, fmt.Errorf("cannot describe %s: %w", op.ID, err)
		}
		group.Operations = append(group.Operations, described)
	}
	return s, nil
}

// build returns the files of all pages, by path.
func build(table frame.Table, describe func() ([]byte, error)) (map[string]frame.Static, error) {
	s, err := collect(table, describe)
	if err != nil {
		return nil, err
	}
	files := map[string]frame.Static{}
	add := func(path, media string, content []byte) {
		files[path] = frame.Static{
			Path: path, Media: media, Plain: content, Policy: frame.OwnPagePolicy,
			Compressed: sync.OnceValue(func() frame.Compressed { return frame.Compress(content, brotliLevel) }),
		}
	}
	for _, p := range s.all() {
		path := Home
		if p.Name != "" {
			path += "/" + p.Name
		}
		html, err := s.html(p)
		if err != nil {
			return nil, err
		}
		add(path, mediaHTML, html)
		twin, err := s.markdown(p)
		if err != nil {
			return nil, err
		}
		if p.Name == "" {
			path += "/" + homeTwin
		}
		add(path+".md", mediaMarkdown, twin)
	}
	index, err := s.searchIndex()
	if err != nil {
		return nil, err
	}
	add(Home+"/"+searchFile, "application/json", index)
	add("/llms.txt", "text/plain; charset=utf-8", s.llms())
	for _, asset := range assets {
		content, err := assetFiles.ReadFile("assets/" + asset.Name)
		if err != nil {
			return nil, err
		}
		add(Home+"/"+asset.Name, asset.Media, content)
	}
	return files, nil
}
