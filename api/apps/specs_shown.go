package apps

import (
	"context"
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/store"
)

// mustShow returns "not found" for a specification that no page of the reader's site or previewed draft shows. A reader
// whose token has a user may preview all drafts of the spaces that the user may read. Such a reader may see every
// specification that these spaces use.
func (h *specs) mustShow(ctx context.Context, reader *access.Reader, slug string) error {
	used, err := h.store.SpecDocuments(ctx, slug, slices.Sorted(maps.Keys(reader.Spaces())))
	if err != nil {
		return err
	}
	for _, in := range used {
		shown, err := h.showsSpec(ctx, reader, in, in.Revision, slug)
		if err == nil && !shown {
			shown, err = h.draftShowsSpec(ctx, reader, in, slug)
		}
		if err != nil || shown {
			return err
		}
	}
	return schema.NotFound("OpenAPI specification version")
}

func (h *specs) draftShowsSpec(ctx context.Context, reader *access.Reader, in store.SpecDocuments, slug string) (bool, error) {
	draft, user := reader.Previews()
	switch {
	case draft != "":
		request, err := h.store.ChangeRequest(ctx, in.SpaceID, draft)
		if schema.IsCode(err, schema.CodeNotFound) {
			return false, nil // The draft belongs to another space.
		}
		if err != nil {
			return false, err
		}
		return h.showsSpec(ctx, reader, in, request.Revision, slug)
	case user != "":
		space, err := h.store.Space(ctx, user, in.SpaceID)
		if schema.IsCode(err, schema.CodeNotFound) {
			return false, nil
		}
		return err == nil && access.ContentRights(space.ContentAccess).Has(access.RightAccess), err
	}
	return false, nil
}

// specBytes limits the size of the documents that one query reads.
const specBytes = 4 << 20

// showsSpec reports whether a revision shows a specification to the reader. It first reads a single document, because
// usually the first document shows the specification. If the specification is in a conditional block, the reader must
// meet the condition of the block.
func (h *specs) showsSpec(ctx context.Context, reader *access.Reader, in store.SpecDocuments, revision, slug string) (bool, error) {
	hashes, err := h.store.ShownDocuments(ctx, in.SpaceID, revision, in.Hashes, reader.Allows)
	for n := 1; err == nil && len(hashes) > 0; n = min(2*n, 32, len(hashes)) {
		texts, read, readErr := h.store.DocumentsWithin(ctx, in.SpaceID, hashes[:n], specBytes)
		for _, text := range texts {
			if namesSpec(markdown.ForVisitor(text.Nodes, reader.Allows), slug) {
				return true, nil
			}
		}
		hashes, err = hashes[read:], readErr
	}
	return false, err
}

// namesSpec reports whether nodes, or nodes within them, refer to a specification.
func namesSpec(nodes []schema.Node, slug string) bool {
	return slices.ContainsFunc(nodes, func(n schema.Node) bool {
		for _, value := range n.Data {
			if ref, ok := value.(map[string]any); ok && ref["kind"] == "openapi" && ref["spec"] == slug {
				return true
			}
		}
		return namesSpec(n.Nodes, slug) || namesSpec(n.Fragments, slug)
	})
}
