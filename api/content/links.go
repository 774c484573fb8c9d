package content

import (
	"context"
	"path"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/store"
)

// linkPaths looks up the targets of links in the pages of one revision. If the space is synchronized with a repository,
// a link is relative to the file of its page. Otherwise it is relative to the path of its page.
type linkPaths struct {
	store *store.Store
	// request is the change request to which the revision belongs, or ""
	space, revision, request string
	git                      *store.GitPaths
}

func (l *linkPaths) paths(ctx context.Context) (store.GitPaths, error) {
	if l.git == nil {
		git, err := l.store.GitPaths(ctx, l.space, l.revision, l.request)
		if err != nil {
			return git, err
		}
		l.git = &git
	}
	return *l.git, nil
}

// placed returns a page of the revision, and sets the page's File and Root if the space is synchronized with a
// repository. If the page has no file yet, File is the path at which the next export writes the page.
func (l *linkPaths) placed(ctx context.Context, page pagelinks.Page) (pagelinks.Page, error) {
	git, err := l.paths(ctx)
	if err != nil || !git.Synced() {
		return page, err
	}
	node, found, err := l.store.PagesIn(ctx, store.Revision{SpaceID: l.space, ID: l.revision}).Page(page.ID)
	if err != nil || !found {
		return page, err
	}
	folder, root, err := git.Below(node.Parent)
	if err != nil {
		return page, err
	}
	files, err := git.OfPages([]string{page.ID})
	page.File, page.Root = files[page.ID], root
	if page.File == "" {
		page.File = folder + gitlayout.FileName(node.Slug) + ".md"
	}
	return page, err
}

// placing is a function that returns the position of a page: the path of the page, and the path of its file in the
// repository.
type placing func(ctx context.Context) (pagelinks.Page, error)

// below returns the position of a new page below another page. The other page may also be new. If `above` is nil, the
// page is at the root.
func (l *linkPaths) below(above placing, slug string) placing {
	return func(ctx context.Context) (page pagelinks.Page, err error) {
		var parent pagelinks.Page
		if above != nil {
			if parent, err = above(ctx); err != nil {
				return page, err
			}
		}
		page.Path = path.Join(parent.Path, slug)
		git, err := l.paths(ctx)
		if err != nil || !git.Synced() {
			return page, err
		}
		folder, root, err := git.Below(parent.ID)
		if err != nil {
			return page, err
		}
		if above != nil && parent.ID == "" {
			folder, root = gitlayout.FolderBelow(parent.File), parent.Root
		}
		page.File, page.Root = folder+gitlayout.FileName(slug)+".md", root
		return page, nil
	}
}

// known looks up the targets of links in the given documents of a page.
func (l *linkPaths) known(
	ctx context.Context, from pagelinks.Page, documents ...schema.Document,
) (pagelinks.Known, error) {
	var known pagelinks.Known
	var files, pages []string
	for _, d := range documents {
		files, pages = append(files, pagelinks.FileTargets(d, from)...), append(pages, pagelinks.Targets(d, from)...)
	}
	git, err := l.paths(ctx)
	if err != nil {
		return known, err
	}
	if known.Files, err = git.At(files); err != nil {
		return known, err
	}
	known.Pages, err = l.store.PagesAt(ctx, l.space, l.revision, pages)
	return known, err
}

// resolved returns a new document with references instead of links. If the previous document also has a link, the link
// keeps its form. `id` is empty for a new page. `at` returns the position of the page, and is called only if a link
// needs it.
func (l *linkPaths) resolved(
	ctx context.Context, id string, at placing, d schema.Document, before *schema.Document,
) (schema.Document, error) {
	was := schema.Document{}
	if before != nil {
		was = *before
	}
	var known pagelinks.Known
	page := pagelinks.Page{ID: id}
	if pagelinks.HasPaths(d, was) {
		var err error
		if page, err = at(ctx); err != nil {
			return d, err
		}
		if known, err = l.known(ctx, page, d, was); err != nil {
			return d, err
		}
		// A link of the previous document may contain a former path of a moved page. If a client sends such a link
		// back, the link stays unchanged.
		once := slices.DeleteFunc(pagelinks.Targets(was, page), func(at string) bool { return known.Pages[at] != "" })
		if known.Once, err = l.store.PagesOnceAt(ctx, l.space, l.revision, once); err != nil {
			return d, err
		}
	}
	return known.AsIn(was, known.Resolve(d, page), page), nil
}

// relative returns a document with relative links instead of references to pages. For readers of a site, the links lead
// to the pages' paths, and not to the names of files. If a document has too many links, editors get it unchanged.
func (l *linkPaths) relative(
	ctx context.Context, page pagelinks.Page, d schema.Document, reader bool,
) (shown schema.Document, err error) {
	ids := pagelinks.Pages(d)
	if len(ids) == 0 {
		return d, nil
	}
	var git store.GitPaths
	if !reader {
		if git, err = l.paths(ctx); err != nil {
			return d, err
		}
	}
	if git.Synced() {
		files, err := git.OfPages(ids)
		if err != nil {
			return d, err
		}
		if page, err = l.placed(ctx, page); err != nil {
			return d, err
		}
		shown = pagelinks.RelativeFiles(d, page, files)
	} else {
		paths, err := l.store.PathsOf(ctx, l.space, l.revision, ids)
		if err != nil {
			return d, err
		}
		shown = pagelinks.Relative(d, page, paths)
	}
	if !reader && !pagelinks.Resolvable(shown, page) {
		return d, nil
	}
	return shown, nil
}

// asWritten returns a document in which links have their author's spelling. A link has this spelling if it still leads
// to the same page or file.
func (l *linkPaths) asWritten(
	ctx context.Context, page pagelinks.Page, source string, d schema.Document,
) (schema.Document, error) {
	if markdown.Edit(source, d) == source {
		return d, nil
	}
	written, unreadable := markdown.Read(source)
	if unreadable != nil {
		written = schema.NewDocument() // the text cannot be read, so no spelling of its links is known
	}
	var known pagelinks.Known
	if pagelinks.HasPaths(written) {
		var err error
		if page, err = l.placed(ctx, page); err != nil {
			return d, err
		}
		if known, err = l.known(ctx, page, written); err != nil {
			return d, err
		}
	}
	return known.AsIn(written, d, page), nil
}
