package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Pages returns the API form of pages with all their descendants, without their text.
func (v Presenter) Pages(space string, pages []tree.Page) []schema.RevisionPage {
	return v.pagesBelow(space, "", pages)
}

func (v Presenter) pagesBelow(space, prefix string, pages []tree.Page) []schema.RevisionPage {
	resources := make([]schema.RevisionPage, len(pages))
	for i := range pages {
		path := ""
		if pages[i].Slug != "" {
			path = prefix + pages[i].Slug
		}
		resources[i] = v.Page(space, tree.Placed{Page: &pages[i], Path: path})
	}
	return resources
}

// oldKinds maps page types to values of `kind`, which the contract still requires next to `type`.
var oldKinds = map[string]string{tree.KindDocument: "sheet", tree.KindGroup: "group", tree.KindLink: "link"}

func (v Presenter) Page(space string, p tree.Placed) schema.RevisionPage {
	resource := schema.RevisionPage{
		ID: p.ID, Kind: oldKinds[p.Kind], Type: p.Kind, Title: p.Title, LinkTitle: p.LinkTitle, Emoji: p.Emoji,
		Icon: p.Icon, CreatedAt: p.CreatedAt.UTC(),
		UpdatedAt: p.UpdatedAt.UTC(), Slug: p.Slug, Path: p.Path, Hidden: p.Hidden,
	}
	if p.Kind == tree.KindLink {
		resource.Target = p.Target
		address, _ := p.Target["url"].(string)
		resource.Href = schema.ShownLink(address)
		return resource
	}
	resource.Pages = v.pagesBelow(space, p.Path+"/", p.Page.Pages)
	resource.NoIndex, resource.NoRobotsIndex = p.NoIndex, p.NoRobotsIndex
	if p.Kind == tree.KindDocument {
		urls := v.pageURLs(space, p.ID)
		resource.URLs, resource.Layout = &urls, layoutOf(p.Layout)
		resource.Cover, resource.Variables = p.Cover, p.Variables
		resource.Tags = []schema.RevisionPageTag{}
		for _, tag := range p.Tags {
			ref := schema.Data{"kind": "tag", "tag": tag.Name}
			resource.Tags = append(resource.Tags, schema.RevisionPageTag{Tag: ref, Primary: tag.Primary})
		}
		resource.Description, resource.DocumentID = p.Description, p.Document
	}
	return resource
}

// layoutOf returns the default layout of pages, changed by the values that the page sets.
func layoutOf(given schema.Data) *schema.PageLayout {
	layout := schema.DefaultPageLayout()
	for name, part := range map[string]*bool{
		"cover": &layout.Cover, "title": &layout.Title, "description": &layout.Description,
		"tableOfContents": &layout.TableOfContents,
		"outline":         &layout.Outline, "pagination": &layout.Pagination, "metadata": &layout.Metadata,
		"tags": &layout.Tags,
	} {
		if shown, ok := given[name].(bool); ok {
			*part = shown
		}
	}
	if width, ok := given["width"].(string); ok {
		layout.Width = width
	}
	if size, ok := given["coverSize"].(string); ok {
		layout.CoverSize = size
	}
	return layout
}
