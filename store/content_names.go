package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Sight describes which content outside of a space the viewer of the space may read.
type Sight struct {
	// UserID is the user who views the space, and who may read other content of the organization.
	UserID string
	// Shows reports whether the visitor's site shows a space. It is nil for users.
	Shows func(space string) bool
	// Allows reports whether the visitor meets a page's condition. It is nil for users.
	Allows Allows
}

// maxNames is the largest number of a document's references for which names are read. References beyond this number
// get the word for the target's kind as their name.
const maxNames = 2000

// Named returns a document of a revision. Its references have the names of their targets wherever Markdown shows names.
// If a target does not exist or the reader may not read it, the name is the word for the target's kind. If `revision`
// is "", Named uses the newest revision.
func (s *Store) Named(
	ctx context.Context, by Sight, spaceID, revision string, d schema.Document,
) (schema.Document, error) {
	return s.named(ctx, by, spaceID, revision, d)
}

// NamedInText returns a document like Named, but its references have names wherever plain text shows names.
func (s *Store) NamedInText(
	ctx context.Context, by Sight, spaceID, revision string, d schema.Document,
) (schema.Document, error) {
	return s.named(ctx, by, spaceID, revision, d, "file", "drawing", "reusable-content")
}

func (s *Store) named(
	ctx context.Context, by Sight, spaceID, revision string, d schema.Document, also ...string,
) (schema.Document, error) {
	names, err := s.Names(ctx, by, spaceID, revision, d, also...)
	if err != nil || names == nil {
		return d, err
	}
	return markdown.Named(d, names, also...), nil
}

// Names returns the names of a document's references, or nil if no reference needs a name.
func (s *Store) Names(
	ctx context.Context, by Sight, spaceID, revision string, d schema.Document, also ...string,
) (func(ref map[string]any) string, error) {
	var refs []map[string]any
	markdown.Named(d, func(ref map[string]any) string {
		if content.RefWord(ref) != "" && content.RefLabel(ref) == "" && len(refs) < maxNames {
			refs = append(refs, ref)
		}
		return ""
	}, also...)
	if len(refs) == 0 {
		return nil, nil
	}
	space, err := s.SpaceByID(ctx, spaceID)
	if err != nil {
		return nil, err
	}
	space.Revision = cmp.Or(revision, space.Revision)
	n := naming{store: s, by: by, space: space, spaces: map[string]Space{}, names: map[target]string{}}
	return n.name, n.find(ctx, refs)
}

// SeenBy returns a value that identifies which content of an organization a user sees. Users with the same value see
// the same content.
func (s *Store) SeenBy(ctx context.Context, organizationID, userID string) (string, error) {
	seen, err := s.db.Queries.SeenBy(ctx, db.SeenByParams{OrganizationID: organizationID, UserID: userID})
	return seen, postgres.Interpret(err, "spaces")
}

// target identifies the object to which a reference points. The field space is "" for users and collections.
type target struct{ kind, space, id string }

// naming finds the names of the targets of references.
type naming struct {
	store *Store
	by    Sight
	space Space
	// spaces has the referenced spaces that the reader may read, by id.
	spaces map[string]Space
	names  map[target]string
}

// target returns the kind, the space and the id of the object to which a reference points. A reference to an anchor
// points to the anchor's page.
func (n *naming) target(ref map[string]any) target {
	text := func(member string) string { value, _ := ref[member].(string); return value }
	t := target{kind: text("kind"), space: cmp.Or(text("space"), n.space.ID)}
	switch t.kind {
	case "page", "anchor":
		t.kind, t.id = "page", text("page")
	case "file":
		t.id = text("file")
	case "reusable-content": // a reusable content is a file of the space
		t.kind, t.id = "file", text("reusableContent")
	case "user", "collection":
		t.space, t.id = "", text(t.kind)
	}
	return t
}

// name returns the name of a reference's target. It returns "" for a reference that has its own text.
func (n *naming) name(ref map[string]any) string {
	if content.RefLabel(ref) != "" {
		return ""
	}
	name := n.names[n.target(ref)]
	if name == "" {
		return content.RefWord(ref)
	}
	if anchor, ok := ref["anchor"].(string); ok {
		name += "#" + anchor
	}
	return content.Clean(name)
}

func (n *naming) find(ctx context.Context, refs []map[string]any) error {
	wanted := map[string][]target{}
	var spaces, collections, users []string
	for _, ref := range refs {
		switch t := n.target(ref); t.kind {
		case "user":
			users = append(users, t.id)
		case "collection":
			collections = append(collections, t.id)
		default:
			spaces = append(spaces, t.space)
			wanted[t.space] = append(wanted[t.space], t)
		}
	}
	if err := n.findTitles(ctx, postgres.Distinct(spaces), postgres.Distinct(collections)); err != nil {
		return err
	}
	if len(users) > 0 {
		people, err := n.store.db.Queries.NamesOfPeople(ctx, db.NamesOfPeopleParams{
			Ids: postgres.Distinct(users), OrganizationID: n.space.OrganizationID, Former: n.by.Shows == nil,
		})
		if err != nil {
			return postgres.Interpret(err, "users")
		}
		for _, user := range people {
			n.names[target{kind: "user", id: user.ID}] = user.DisplayName
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if space, ok := n.spaces[id]; ok {
			if err := n.findWithin(ctx, space, wanted[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// findTitles finds the titles of the spaces and collections that the reader may read.
func (n *naming) findTitles(ctx context.Context, spaces, collections []string) error {
	n.spaces[n.space.ID] = n.space
	others := slices.DeleteFunc(slices.Clone(spaces), func(id string) bool { return id == n.space.ID })
	switch {
	case n.by.Shows != nil:
		for _, id := range others {
			if !n.by.Shows(id) {
				continue
			}
			space, err := n.store.SpaceByID(ctx, id)
			if schema.IsCode(err, schema.CodeNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			n.spaces[id] = space
		}
	case n.by.UserID != "" && len(others)+len(collections) > 0:
		rows, err := n.store.db.Queries.TitlesSeen(ctx, db.TitlesSeenParams{
			UserID: n.by.UserID, Ids: append(others, collections...), OrganizationID: n.space.OrganizationID,
		})
		if err != nil {
			return postgres.Interpret(err, "spaces")
		}
		for _, row := range rows {
			if row.Revision != "" {
				n.spaces[row.ID] = Space{ID: row.ID, Title: row.Title, Revision: row.Revision}
			} else {
				n.names[target{kind: "collection", id: row.ID}] = row.Title
			}
		}
	}
	for id, space := range n.spaces {
		n.names[target{kind: "space", space: id}] = space.Title
	}
	return nil
}

// findWithin finds the names of pages and files of a space that the reader may read.
func (n *naming) findWithin(ctx context.Context, space Space, wanted []target) error {
	var files []string
	pages := false
	for _, t := range wanted {
		if t.kind == "file" {
			files = append(files, t.id)
		}
		pages = pages || t.kind == "page" && t.id != ""
	}
	if len(files) > 0 {
		rows, err := n.store.db.Queries.NamesOfFiles(ctx, db.NamesOfFilesParams{
			SpaceID: space.ID, Revision: space.Revision, FileIds: postgres.Distinct(files),
		})
		if err != nil {
			return postgres.Interpret(err, "files")
		}
		for _, row := range rows {
			n.names[target{kind: "file", space: space.ID, id: row.FileID}] = row.Name
		}
	}
	if !pages {
		return nil
	}
	t, err := n.store.tree(ctx, space.ID, space.Revision)
	if err != nil {
		return err
	}
	for _, page := range wanted {
		if found := t.byID[page.id]; page.kind == "page" && found.Page != nil &&
			(n.by.Allows == nil || t.shows(page.id, n.by.Allows)) {
			n.names[page] = found.Title
		}
	}
	return nil
}
