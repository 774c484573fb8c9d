package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/filerefs"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/schema/customization"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// A visitor of a site may read the files to which the visible pages refer. Each document and each reusable content is
// stored with the list of the files to which it refers. So the files of a revision are found without reading texts.
// The result, of the type keptRefs, is cached.

const (
	// keptFileRefs is the largest total number of places (see keptRefs) in the cache. A place takes about 100 bytes.
	keptFileRefs = 200_000
	// conditionalRefs is the largest number of places and branches of one revision. Beyond the limit, only files at
	// unconditional places are shown.
	conditionalRefs = 1_000_000
	// fileRefsAtOnce is the number of documents whose references one statement reads. They take at most 32 MiB.
	fileRefsAtOnce = 250
	// unreadBytes limits the memory for texts that an older version stored without references. These texts must be
	// read.
	unreadBytes = 4 << 20
)

// fileRefsOf returns the references of a document, as JSON for the column file_refs.
func fileRefsOf(content []byte, t Text) ([]byte, error) {
	var refs filerefs.Refs
	if filerefs.MayName(content) {
		refs = filerefs.Of(t.Document)
	}
	return postgres.ToJSON(refs)
}

// keptRefs has the references of a revision's pages to files. All callers share it, so they must not change it.
//
// A place is where a text refers to a file. The text is the place's holder, and the branch is the condition around the
// reference. A file is shown at a place if both the holder and the branch are shown. The first holders are documents,
// which are shown at the places of their pages. The other holders are reusable contents, which are shown at the places
// of blocks that refer to them.
type keptRefs struct {
	// files has the places of each file, by the file's id. If the file belongs to another space, the key of the map
	// is the result of the function `elsewhere`.
	files   map[string][]refPlace
	holders [][]refPlace
	// branches has the conditions. Each branch comes after the branch that contains it. Branch 0 and holder 0 are
	// always shown.
	branches []refBranch
	places   int
}

type refPlace struct{ holder, branch int32 }

type refBranch struct {
	in         int32
	expression string
}

func (k *keptRefs) Size() int { return 1 + k.places + len(k.branches) }

// shown returns a function that reports whether a file is shown to a visitor.
func (k *keptRefs) shown(allows Allows) func(file string) bool {
	allows = once(allows)
	branches := make([]bool, len(k.branches))
	for i, branch := range k.branches {
		branches[i] = i == 0 || branches[branch.in] && allows(branch.expression)
	}
	holders := make([]bool, len(k.holders))
	at := func(p refPlace) bool { return p.branch != unshown && holders[p.holder] && branches[p.branch] }
	for i, places := range k.holders {
		holders[i] = i == 0 || slices.ContainsFunc(places, at)
	}
	return func(file string) bool { return slices.ContainsFunc(k.files[file], at) }
}

// LinkedFiles returns the ids of a space's files to which a site's customization links, for example in the header. It
// leaves out links with conditions that the visitor does not meet. `siteSpace` is the place at which the site shows
// the space.
func (s *Store) LinkedFiles(
	ctx context.Context, siteID, siteSpace, spaceID string, allows Allows,
) (map[string]bool, error) {
	settings, overrides, err := s.Sites.SiteSpaceCustomization(ctx, siteID, siteSpace)
	if err != nil {
		return nil, err
	}
	linked := map[string]bool{}
	for _, level := range []customization.Customization{settings, overrides} {
		encoded, err := postgres.ToJSON(level)
		if err != nil {
			return nil, err
		}
		members, err := postgres.FromJSON[any](encoded)
		if err != nil {
			return nil, err
		}
		addLinked(linked, members, spaceID, allows)
	}
	return linked, nil
}

func addLinked(linked map[string]bool, value any, spaceID string, allows Allows) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			addLinked(linked, item, spaceID, allows)
		}
	case map[string]any:
		if condition, given := value["condition"].(string); given && condition != "" && !allows(condition) {
			return
		}
		if file, ok := filerefs.OfRef(value); ok && (file.Space == "" || file.Space == spaceID) {
			linked[file.ID] = true
		}
		for _, member := range value {
			addLinked(linked, member, spaceID, allows)
		}
	}
}

// AddFilesNamedElsewhere adds to `linked` the files of a space to which the current contents of other spaces refer. It
// leaves out references that the visitor does not see.
func (s *Store) AddFilesNamedElsewhere(
	ctx context.Context, linked map[string]bool, spaceID string, spaces []string, allows Allows,
) error {
	rows, err := s.db.Queries.SpacesNamingFilesElsewhere(ctx, spaces)
	if err != nil {
		return postgres.Interpret(err, "spaces")
	}
	for _, row := range rows {
		refs, err := s.fileRefs(ctx, row.ID, row.Revision)
		if err != nil {
			return err
		}
		shown := refs.shown(allows)
		for name := range refs.files {
			if id, of := strings.CutPrefix(name, elsewhere(spaceID, "")); of && shown(name) {
				linked[id] = true
			}
		}
	}
	return nil
}

// elsewhere returns the key of another space's file in keptRefs.
func elsewhere(spaceID, id string) string { return spaceID + "/" + id }

// ShownFiles returns the files of a revision that a visitor sees: the files to which the visitor's pages refer, and the
// files in `linked`. If `allows` is nil, the viewer is a user, who sees all files.
func (s *Store) ShownFiles(
	ctx context.Context, spaceID, revisionID string, files []File, allows Allows, linked map[string]bool,
) ([]File, error) {
	if allows == nil || len(files) == 0 {
		return files, nil
	}
	refs, err := s.fileRefs(ctx, spaceID, revisionID)
	if err != nil {
		return nil, err
	}
	shown := refs.shown(allows)
	return slices.DeleteFunc(files, func(f File) bool { return !linked[f.ID] && !shown(f.ID) }), nil
}

// fileRefs reads the references in a revision's pages, and caches them.
func (s *Store) fileRefs(ctx context.Context, spaceID, revisionID string) (*keptRefs, error) {
	key := treeKey{spaceID, revisionID}
	if k, ok := s.refs.Get(key); ok {
		return k, nil
	}
	t, err := s.tree(ctx, spaceID, revisionID)
	if err != nil {
		return nil, err
	}
	files, err := s.Files(ctx, spaceID, revisionID)
	if err != nil {
		return nil, err
	}
	b := refsBuilder{s: s, ctx: ctx, key: key, tree: t, there: map[string]bool{}, numbers: map[refBranch]int32{}}
	for _, file := range files {
		b.there[file.ID] = true
	}
	if err := b.build(); err != nil {
		return nil, err
	}
	if len(t.byID) > 0 { // a revision without pages may not exist yet, so its references are not cached
		s.refs.Keep(key, &b.refs)
	}
	return &b.refs, nil
}

// refsBuilder finds the references of a revision's pages.
type refsBuilder struct {
	s    *Store
	ctx  context.Context
	key  treeKey
	tree *keptTree
	// there has the ids of the revision's files. It is needed because documents may refer to files that the revision
	// does not have, or that never existed.
	there map[string]bool
	refs  keptRefs
	// numbers has the number of each branch.
	numbers map[refBranch]int32
	// includes has the places of each reusable content, by the id of the content's file.
	includes map[string][]refPlace
}

func (b *refsBuilder) build() error {
	b.includes = map[string][]refPlace{}
	b.refs = keptRefs{files: map[string][]refPlace{}, holders: [][]refPlace{nil}, branches: []refBranch{{}}}
	pages := map[string][]refPlace{} // places of pages, by the hash of the page's document
	tree.Walk(b.tree.pages, func(p tree.Placed) bool {
		place := refPlace{}
		for _, condition := range b.tree.conditions[p.ID] {
			place.branch = b.branch(refBranch{place.branch, condition})
		}
		if p.Document != "" {
			pages[p.Document] = append(pages[p.Document], place)
		}
		if file, ok := filerefs.OfRef(p.Target); ok {
			b.name(b.refs.files, file, place)
		}
		return true
	})
	for hashes := range slices.Chunk(slices.Sorted(maps.Keys(pages)), fileRefsAtOnce) {
		named, err := b.s.documentFileRefs(b.ctx, b.key.space, hashes)
		if err != nil {
			return err
		}
		for hash, refs := range named {
			b.add(pages[hash], refs)
		}
	}
	included := b.includes
	b.includes = nil // nil, because a reusable content cannot include another one
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(included)), fileRefsAtOnce) {
		named, err := b.s.includeFileRefs(b.ctx, b.key, ids)
		if err != nil {
			return err
		}
		for id, refs := range named {
			b.add(included[id], refs)
		}
	}
	return nil
}

// unshown is the branch of references that exceed the limits.
const unshown = -1

// branch returns the number of a branch, and adds the branch if it is new. It returns `unshown` if the limit is
// reached.
func (b *refsBuilder) branch(branch refBranch) int32 {
	number, known := b.numbers[branch]
	switch {
	case known:
		return number
	case branch.in == unshown || b.refs.Size() > conditionalRefs:
		return unshown
	}
	number = int32(len(b.refs.branches)) // the limit is below the largest int32
	b.numbers[branch], b.refs.branches = number, append(b.refs.branches, branch)
	return number
}

// add adds a holder with its places, and the references of the holder.
func (b *refsBuilder) add(places []refPlace, refs filerefs.Refs) {
	holder := int32(0) // holder 0 stands for a text that is always shown
	if !slices.Contains(places, refPlace{}) {
		holder = int32(len(b.refs.holders))
		b.refs.holders, b.refs.places = append(b.refs.holders, places), b.refs.places+len(places)
	}
	numbers := make([]int32, 1+len(refs.Branches))
	for i, branch := range refs.Branches {
		numbers[1+i] = b.branch(refBranch{numbers[branch.In], branch.If})
	}
	for _, ref := range refs.Files {
		b.name(b.refs.files, ref, refPlace{holder, numbers[ref.In]})
	}
	for _, ref := range refs.Includes {
		if b.includes != nil {
			b.name(b.includes, ref, refPlace{holder, numbers[ref.In]})
		}
	}
}

// name adds a place to a file's places. It adds no place to a file that is always shown.
func (b *refsBuilder) name(files map[string][]refPlace, ref filerefs.Ref, place refPlace) {
	name, full := ref.ID, b.refs.Size() > conditionalRefs
	switch {
	case ref.Space != "" && ref.Space != b.key.space:
		name = elsewhere(ref.Space, ref.ID)
		if full {
			return // files of other spaces may not exist, so their number has no limit
		}
	case !b.there[ref.ID]:
		return
	}
	always, places := refPlace{}, files[name]
	switch {
	case place.branch == unshown || len(places) > 0 && places[0] == always:
		return
	case place == always:
		b.refs.places -= len(places)
		places = nil
	case full:
		return
	}
	files[name] = append(places, place)
	b.refs.places++
}

// documentFileRefs returns the references of documents, by the document's hash. It leaves out documents without
// references.
func (s *Store) documentFileRefs(
	ctx context.Context, spaceID string, hashes []string,
) (map[string]filerefs.Refs, error) {
	rows, err := s.db.Queries.DocumentFileRefs(ctx, db.DocumentFileRefsParams{SpaceID: spaceID, Hashes: hashes})
	if err != nil {
		return nil, postgres.Interpret(err, "documents")
	}
	found := make(map[string]filerefs.Refs, len(rows))
	for _, row := range rows {
		if row.FileRefs == nil { // an older version of Octavo stored the document
			texts, err := s.Documents(ctx, spaceID, []string{row.Hash})
			if err != nil {
				return nil, err
			}
			found[row.Hash] = filerefs.Of(texts[row.Hash].Document)
			continue
		}
		if found[row.Hash], err = postgres.FromJSON[filerefs.Refs](row.FileRefs); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// includeFileRefs returns the references of a revision's reusable contents, by the id of the content's file. It leaves
// out contents without references.
func (s *Store) includeFileRefs(ctx context.Context, in treeKey, ids []string) (map[string]filerefs.Refs, error) {
	rows, err := s.db.Queries.IncludeFileRefs(ctx, db.IncludeFileRefsParams{
		SpaceID: in.space, Revision: in.revision, FileIds: ids,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "files")
	}
	found := make(map[string]filerefs.Refs, len(rows))
	for _, row := range rows {
		if row.FileRefs == nil {
			files, err := s.Includes(ctx, in.space, in.revision, []string{row.FileID}, includes.MaxBytes)
			if err != nil {
				return nil, err
			}
			found[row.FileID] = filerefs.OfFile(files[row.FileID])
			continue
		}
		if found[row.FileID], err = postgres.FromJSON[filerefs.Refs](row.FileRefs); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readFileRefs finds documents and files that an older version stored without references. It stores their references,
// and the numbers of words of the documents. It commits each step, so that the next start continues after an
// interruption.
func readFileRefs(ctx context.Context, q *db.Queries) error {
	for {
		rows, err := q.UnreadDocuments(ctx, unreadBytes)
		if err != nil {
			return err
		}
		var set db.SetDocumentFactsParams
		for _, row := range rows {
			// An unreadable text is never shown, so it is treated as empty.
			text, _ := postgres.FromJSON[Text](row.Content)
			refs, err := fileRefsOf(row.Content, text)
			if err != nil {
				return err
			}
			set.Spaces, set.Hashes = append(set.Spaces, row.SpaceID), append(set.Hashes, row.Hash)
			set.FileRefs, set.Words = append(set.FileRefs, string(refs)), append(set.Words, wordsOf(text))
		}
		if len(rows) == 0 {
			break
		}
		if err := q.SetDocumentFacts(ctx, set); err != nil {
			return err
		}
	}
	for {
		rows, err := q.UnreadFiles(ctx, unreadBytes)
		if err != nil || len(rows) == 0 {
			return err
		}
		var set db.SetFileFileRefsParams
		for _, row := range rows {
			refs, err := postgres.ToJSON(filerefs.OfFile(row.Content))
			if err != nil {
				return err
			}
			set.Spaces, set.Hashes = append(set.Spaces, row.SpaceID), append(set.Hashes, row.Hash)
			set.FileRefs = append(set.FileRefs, string(refs))
		}
		if err := q.SetFileFileRefs(ctx, set); err != nil {
			return err
		}
	}
}
