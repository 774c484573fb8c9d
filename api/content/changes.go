package content

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// contentBodyLimit bounds the size of a request with changes, including its files. A page of the largest size fits into
// such a request: as JSON, each of its schema.MaxDocumentNodes nodes needs about 110 bytes in addition to its text.
const contentBodyLimit = 16 << 20

type changeContentRequest struct {
	// Compat selects one of two forms of the response. The contract documents the form that contains the change
	// request.
	Compat   *bool   `query:"compat" rules:"default=true"`
	Revision *string `query:"revision" rules:"len=1..64"`
	Body     struct {
		Changes []contentChange `json:"changes" rules:"required,len=1..50"`
	} `body:"json"`
}

// contentChange is one change. The table contentChanges lists the members that each operation uses. All other members
// are ignored, as unknown members are.
type contentChange struct {
	Operation *string            `json:"operation" rules:"required,enum=contentOperation"`
	Page      *string            `json:"page"`
	Type      *string            `json:"type" rules:"enum=pageKind,default=document"`
	Into      schema.Opt[string] `json:"into"`
	At        *int               `json:"at" rules:"range=0.."`
	Ref       *string            `json:"ref" rules:"len=1..100"`
	Document  *pageBody          `json:"document"`
	Target    schema.Data        `json:"target"`
	Revision  *string            `json:"revision"`
	Block     []string           `json:"block"`
	Files     []contentFile      `json:"files" rules:"len=1..20"`
	// Other operations of the API use these members for the position. If they were ignored here, the page would be
	// added at a wrong position without an error.
	Parent *misplaced `json:"parent"`
	Before *misplaced `json:"before"`
	After  *misplaced `json:"after"`

	Title         *string `json:"title" rules:"len=1..256,pattern=title"`
	Slug          *string `json:"slug" rules:"len=..100,pattern=pageSlug"`
	Emoji         *string `json:"emoji" rules:"len=..50"`
	Icon          *string `json:"icon" rules:"len=..50"`
	Description   *string `json:"description" rules:"len=..1000"`
	Condition     *string `json:"condition" rules:"len=..1024,pattern=condition"`
	Hidden        *bool   `json:"hidden"`
	NoIndex       *bool   `json:"noIndex"`
	NoRobotsIndex *bool   `json:"noRobotsIndex"`
}

// misplaced is the type of a member that a change must not have.
type misplaced struct{ jsontext.Value }

// Problems refuses every value. A member that is null is treated as absent.
func (misplaced) Problems(field string) []schema.Detail {
	return []schema.Detail{{Field: field, Problem: "is no member of a change: into names the page above, and at the position there"}}
}

// OpenAPISchema returns a schema that allows only null.
func (misplaced) OpenAPISchema() map[string]any {
	return jsonschema.Dict{"type": "null"}
}

type contentFile struct {
	Name        *string `json:"name" rules:"required,len=1..256,pattern=title"`
	ContentType *string `json:"contentType" rules:"len=..128,pattern=mediaType"`
	Base64      *string `json:"base64"`
	URL         *string `json:"url"`
}

// contentChanges has the functions for each value of the member `operation` of a change. check validates members that
// depend on each other. add converts a change to the form in which the store applies it.
var contentChanges = map[string]struct {
	check func(c *rules.Checker, field string, change *contentChange)
	add   func(b *contentBuilder, ctx context.Context, change *contentChange) error
}{
	"insert_page":  {checkInsert, (*contentBuilder).insertPage},
	"update_page":  {checkUpdate, (*contentBuilder).updatePage},
	"delete_page":  {needsPage, (*contentBuilder).deletePage},
	"revert_page":  {checkRevert, (*contentBuilder).revertPage},
	"insert_files": {checkFiles, (*contentBuilder).insertFiles},
}

// contentOperationNames lists the values of `operation`.
func contentOperationNames() []string {
	return []string{"insert_page", "update_page", "delete_page", "revert_page", "insert_files"}
}

// Validate checks, in each change, the members that depend on each other.
func (r *changeContentRequest) Validate() []schema.Detail {
	var c rules.Checker
	for i := range r.Body.Changes {
		change := &r.Body.Changes[i]
		contentChanges[*change.Operation].check(&c, fmt.Sprintf("changes[%d]", i), change)
	}
	return c.Details
}

func needsPage(c *rules.Checker, field string, change *contentChange) {
	if change.Page == nil {
		c.Add(field+".page", "is required")
	}
}

func checkInsert(c *rules.Checker, field string, change *contentChange) {
	if schema.Or(change.Type, tree.KindDocument) == tree.KindLink && change.Target == nil {
		c.Add(field+".target", "is required for a link")
	}
	checkTarget(c, field, change)
}

func checkTarget(c *rules.Checker, field string, change *contentChange) {
	if change.Target != nil {
		c.Details = append(c.Details, schema.ContentRef(change.Target).Problems(field+".target")...)
	}
}

func checkUpdate(c *rules.Checker, field string, change *contentChange) {
	needsPage(c, field, change)
	checkTarget(c, field, change)
}

func checkRevert(c *rules.Checker, field string, change *contentChange) {
	needsPage(c, field, change)
	if len(change.Block) > 0 {
		c.Add(field+".block", "is not offered: a page is reverted as a whole")
	}
}

func checkFiles(c *rules.Checker, field string, change *contentChange) {
	if len(change.Files) == 0 {
		c.Add(field+".files", "is required")
	}
	for i, file := range change.Files {
		name := fmt.Sprintf("%s.files[%d]", field, i)
		switch {
		case file.URL != nil:
			c.Add(name+".url", "is not offered: send the file as base64")
		case file.Base64 == nil:
			c.Add(name+".base64", "is required")
		case base64.StdEncoding.DecodedLen(len(*file.Base64)) > contentBodyLimit:
			c.Add(name+".base64", "is too large")
		}
	}
}

func (h *pages) change(ctx context.Context, c *access.Caller, r *changeContentRequest) (schema.ChangeRequest, error) {
	b := &contentBuilder{
		store: h.store, space: c.Space.Space.ID, initial: c.ChangeRequest.RevisionInitial,
		head: c.ChangeRequest.Revision, written: map[string]schema.Document{}, placed: map[string]placing{},
	}
	b.links = linkPaths{store: h.store, space: b.space, revision: b.head, request: c.ChangeRequest.ID}
	b.change.UserID, b.change.Seen = c.Principal.UserID, r.Revision
	for i := range r.Body.Changes {
		change := &r.Body.Changes[i]
		b.name = fmt.Sprintf("changes[%d]", i)
		if err := contentChanges[*change.Operation].add(b, ctx, change); err != nil {
			return schema.ChangeRequest{}, err
		}
	}
	row, err := h.store.ChangeContent(ctx, *c.ChangeRequest, b.change)
	if err != nil {
		return schema.ChangeRequest{}, err
	}
	return h.requests.resource(ctx, row)
}

// contentBuilder collects the changes of a request for the store.
type contentBuilder struct {
	store *store.Store
	space string
	// initial is the revision from which the change request started. head is its present revision.
	initial, head string
	// written has the documents that earlier changes of this request have written, by the page's id or ref.
	written map[string]schema.Document
	// placed has the positions of the pages that earlier changes of this request insert, by the page's ref.
	placed map[string]placing
	links  linkPaths
	change store.ContentChange
	// name is the name of the current change in errors.
	name string
	// revisions has the revisions that were read so far, by id.
	revisions map[string]store.Revision
}

func (b *contentBuilder) add(change tree.Change) {
	b.change.Pages, b.change.Names = append(b.change.Pages, change), append(b.change.Names, b.name)
}

// attributes returns the attributes that a change sets. page is the id or the ref of the page. `before` is the document
// that the change replaces. `at` returns the position of the page.
func (b *contentBuilder) attributes(
	ctx context.Context, change *contentChange, page string, before *schema.Document, at placing,
) (tree.Attributes, error) {
	attributes := tree.Attributes{
		Title: change.Title, Slug: change.Slug, Emoji: change.Emoji, Icon: change.Icon, Description: change.Description,
		Condition: change.Condition, Hidden: change.Hidden, NoIndex: change.NoIndex, NoRobotsIndex: change.NoRobotsIndex,
		Target: change.Target,
	}
	if change.Document == nil {
		return attributes, nil
	}
	hash, id := "", page
	if _, inserted := b.placed[page]; inserted || change.Page == nil {
		id = "" // the new page has no id yet
	}
	if !change.Document.IsZero() {
		text, err := change.Document.text(
			ctx,
			b.name+".document",
			before,
			func(d schema.Document) (schema.Document, error) {
				return b.links.resolved(ctx, id, at, d, before)
			},
		)
		if err != nil {
			return attributes, err
		}
		b.written[page] = text.Document
		document, err := store.NewDocument(text)
		if err != nil {
			return attributes, err
		}
		b.change.Documents = append(b.change.Documents, document)
		hash = document.Hash
	}
	attributes.Document = &hash
	return attributes, nil
}

// before returns the document that a change replaces, so that the new document takes over its keys. It returns nil if
// there is no such document. If the page does not exist, the store refuses the change later.
func (b *contentBuilder) before(ctx context.Context, change *contentChange) (*schema.Document, error) {
	page := *change.Page
	if change.Document == nil {
		return nil, nil
	}
	if written, ok := b.written[page]; ok {
		return &written, nil
	}
	revision, err := b.revision(ctx, b.head)
	if err != nil {
		return nil, err
	}
	found, ok, err := b.store.PagesIn(ctx, revision).Page(page)
	if err != nil || !ok || found.Document == "" {
		return nil, err
	}
	documents, err := b.store.Documents(ctx, b.space, []string{found.Document})
	if err != nil {
		return nil, err
	}
	document := documents[found.Document].Document
	return &document, nil
}

func (b *contentBuilder) insertPage(ctx context.Context, change *contentChange) error {
	ref := schema.Or(change.Ref, "")
	at := b.inserted(change)
	attributes, err := b.attributes(ctx, change, ref, nil, at)
	if _, known := b.placed[ref]; !known && ref != "" {
		b.placed[ref] = at
	}
	b.add(tree.Insert{
		Kind: schema.Or(change.Type, tree.KindDocument), Into: change.Into.Value, At: change.At, Ref: ref,
		Attributes: attributes,
	})
	return err
}

func (b *contentBuilder) updatePage(ctx context.Context, change *contentChange) error {
	before, err := b.before(ctx, change)
	if err != nil {
		return err
	}
	attributes, err := b.attributes(ctx, change, *change.Page, before, b.updated(*change.Page))
	b.add(tree.Update{Page: *change.Page, Into: change.Into, At: change.At, Attributes: attributes})
	return err
}

// inserted returns the position of a new page. The parent may be an existing page, or a page that an earlier change
// inserts.
func (b *contentBuilder) inserted(change *contentChange) placing {
	slug := schema.Or(change.Slug, "")
	if slug == "" {
		slug = tree.Slugify(schema.Or(change.Title, tree.Untitled))
	}
	if into := change.Into.Value; into != nil {
		return b.links.below(b.updated(*into), slug)
	}
	return b.links.below(nil, slug)
}

// updated returns the position of a changed page.
func (b *contentBuilder) updated(id string) placing {
	if at := b.placed[id]; at != nil {
		return at
	}
	return func(ctx context.Context) (pagelinks.Page, error) { return b.page(ctx, id) }
}

// page returns a page of the revision. If the page does not exist, the store refuses the change later.
func (b *contentBuilder) page(ctx context.Context, id string) (pagelinks.Page, error) {
	paths, err := b.store.PathsOf(ctx, b.space, b.head, []string{id})
	if err != nil {
		return pagelinks.Page{}, err
	}
	return b.links.placed(ctx, pagelinks.Page{ID: id, Path: paths[id]})
}

func (b *contentBuilder) deletePage(_ context.Context, change *contentChange) error {
	b.add(tree.Delete{Page: *change.Page})
	return nil
}

// revertPage restores the state that a page had in a revision of the space. If the change names no revision, it is the
// revision from which the change request started.
func (b *contentBuilder) revertPage(ctx context.Context, change *contentChange) error {
	revision, err := b.revision(ctx, schema.Or(change.Revision, b.initial))
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.Invalid(b.name+".revision", "names no revision of this space")
	}
	if err != nil {
		return err
	}
	b.add(tree.Revert{Page: *change.Page, To: b.store.PagesIn(ctx, revision)})
	return nil
}

// revision returns a revision of the space. It reads each revision only once.
func (b *contentBuilder) revision(ctx context.Context, id string) (store.Revision, error) {
	if revision, known := b.revisions[id]; known {
		return revision, nil
	}
	revision, err := b.store.Revision(ctx, b.space, id)
	if err != nil {
		return store.Revision{}, err
	}
	if b.revisions == nil {
		b.revisions = map[string]store.Revision{}
	}
	b.revisions[id] = revision
	return revision, nil
}

func (b *contentBuilder) insertFiles(_ context.Context, change *contentChange) error {
	for i, file := range change.Files {
		bytes, err := base64.StdEncoding.DecodeString(*file.Base64)
		if err != nil {
			return schema.Invalid(fmt.Sprintf("%s.files[%d].base64", b.name, i), "is not base64")
		}
		media := schema.Or(file.ContentType, "")
		if media == "" {
			media = http.DetectContentType(bytes)
		}
		b.change.Files = append(b.change.Files, store.NewFile{Name: *file.Name, ContentType: media, Content: bytes})
	}
	return nil
}
