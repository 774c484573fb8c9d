package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

const contentPart = "content"

// importer is a way to fill an empty space with generated pages. `run` returns when the pages are in the main content
// of the space.
type importer struct {
	name string
	run  func(b *bench, ctx context.Context, space string, pages int) error
}

// importers lists the importers that are measured. The first importer is also used to fill the spaces of other rows.
var importers = []importer{
	{"Git", (*bench).importByGit},
	{"changes of a request, merged", (*bench).importByChanges},
}

// maxChanges is the largest number of changes that one request may have.
const maxChanges = 50

// contentRows measures requests about spaces with many pages, through a node's API.
func (b *bench) contentRows(ctx context.Context) error {
	for _, way := range importers {
		for _, pages := range b.imports {
			if err := b.importRow(ctx, way, pages); err != nil {
				return err
			}
		}
	}
	if err := b.pdfRow(ctx); err != nil {
		return err
	}
	if err := b.mergeRows(ctx); err != nil {
		return err
	}
	small, err := b.filledSpace(ctx, 100)
	if err != nil {
		return err
	}
	large, err := b.filledSpace(ctx, b.largeSpace)
	if err != nil {
		return err
	}
	if err := b.pathRow(ctx, small, large); err != nil {
		return err
	}
	return b.searchRows(ctx, large)
}

// importRow measures one import after a restart. It does not repeat the import, because at the start of a second
// import, the node would already use more memory.
func (b *bench) importRow(ctx context.Context, way importer, pages int) error {
	if err := b.rig.restart(ctx, b.rig.roles); err != nil {
		return err
	}
	space, err := b.rig.newSpace(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := way.run(b, ctx, space, pages); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	b.report.add(row{What: fmt.Sprintf("import of %d pages (%s)", pages, way.name), Unit: "s", Ours: spreadOf([]float64{took})})
	if err := b.indexed(ctx, space, pages); err != nil {
		return err
	}
	b.report.note(fmt.Sprintf("%s s until a search finds all of them; the node's memory was %.0f MB at most, until then",
		number(time.Since(began).Seconds()), b.rig.nodeProcess().Memory("VmHWM")))
	return nil
}

func (b *bench) filledSpace(ctx context.Context, pages int) (string, error) {
	space, err := b.rig.newSpace(ctx)
	if err != nil {
		return "", err
	}
	progress("a space of %d pages", pages)
	if err := importers[0].run(b, ctx, space, pages); err != nil {
		return "", err
	}
	return space, b.indexed(ctx, space, pages)
}

// indexed waits until a search for a word that every page has finds all pages.
func (b *bench) indexed(ctx context.Context, space string, pages int) error {
	for {
		count, err := b.count(ctx, space, everywhere)
		if err != nil || count == pages {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (b *bench) count(ctx context.Context, space, query string) (int, error) {
	var found struct{ Count int }
	err := b.rig.Call(ctx, http.MethodGet, searchPath(space, query), nil, http.StatusOK, &found)
	return found.Count, err
}

func spacePath(space string) string { return "/v1/spaces/" + url.PathEscape(space) }

func searchPath(space, query string) string {
	return spacePath(space) + "/search?limit=20&query=" + url.QueryEscape(query)
}

// change is one change of a change request, as JSON.
type change map[string]any

func (b *bench) importByChanges(ctx context.Context, space string, pages int) error {
	request, err := b.newRequest(ctx, space)
	if err != nil {
		return err
	}
	parents := map[int]string{}
	for from := 0; from < pages; from += maxChanges {
		var changes []change
		for i := from; i < min(from+maxChanges, pages); i++ {
			insert := change{"operation": "insert_page", "title": pageTitle(i), "slug": pageSlug(i), "document": change{"markdown": pageText(i)}}
			if i >= siblings {
				insert["into"] = parents[parentOf(i)]
			}
			changes = append(changes, insert)
		}
		if err := b.apply(ctx, request, changes); err != nil {
			return err
		}
		if len(parents) == 0 || from < pages/siblings {
			if err := b.readParents(ctx, request, parents); err != nil {
				return err
			}
		}
	}
	return b.merge(ctx, request)
}

// siblings is the number of child pages of each page.
const siblings = 50

func parentOf(i int) int { return i/siblings - 1 }

func pageSlug(i int) string { return fmt.Sprintf("page-%d", i) }

// pagePath returns the path of the i-th page.
func pagePath(i int) string {
	if i < siblings {
		return pageSlug(i)
	}
	return pagePath(parentOf(i)) + "/" + pageSlug(i)
}

// readParents reads the ids of a change request's pages into `parents`, by page number.
func (b *bench) readParents(ctx context.Context, request string, parents map[int]string) error {
	var content struct{ Pages []contentPage }
	if err := b.rig.Call(ctx, http.MethodGet, request+"/content/pages", nil, http.StatusOK, &content); err != nil {
		return err
	}
	walkPages(content.Pages, func(p contentPage) {
		var i int
		if _, err := fmt.Sscanf(p.Slug, "page-%d", &i); err == nil {
			parents[i] = p.ID
		}
	})
	return nil
}

type contentPage struct {
	ID, Slug string
	Pages    []contentPage
}

func walkPages(pages []contentPage, visit func(contentPage)) {
	for _, p := range pages {
		visit(p)
		walkPages(p.Pages, visit)
	}
}

// newRequest returns the path of a new change request.
func (b *bench) newRequest(ctx context.Context, space string) (string, error) {
	var request struct{ ID string }
	err := b.rig.Call(ctx, http.MethodPost, spacePath(space)+"/change-requests", []byte("{}"), http.StatusCreated, &request)
	return spacePath(space) + "/change-requests/" + url.PathEscape(request.ID), err
}

func (b *bench) apply(ctx context.Context, request string, changes []change) error {
	body, err := json.Marshal(change{"changes": changes})
	if err != nil {
		return err
	}
	return b.rig.Call(ctx, http.MethodPost, request+"/content", body, http.StatusOK, nil)
}

func (b *bench) merge(ctx context.Context, request string) error {
	var merged struct{ Result string }
	if err := b.rig.Call(ctx, http.MethodPost, request+"/merge", nil, http.StatusOK, &merged); err != nil {
		return err
	}
	if merged.Result != "merge" {
		return fmt.Errorf("the result of merging is %q", merged.Result)
	}
	return nil
}

// mergeRows measures two operations in a large space: merging an edit, and comparing the revisions before and after it.
func (b *bench) mergeRows(ctx context.Context) error {
	st, err := store.New(postgres.Config{URL: b.rig.engines.PostgresURL}, store.Config{})
	if err != nil {
		return err
	}
	if err := st.Start(ctx); err != nil {
		return err
	}
	defer st.Stop()
	space, err := b.filledSpace(ctx, b.mergeSpace)
	if err != nil {
		return err
	}
	ids := map[int]string{}
	if err := b.readParents(ctx, spacePath(space), ids); err != nil {
		return err
	}
	// Listing the pages has used memory, which the restart frees. So the measured memory is only the memory for merges.
	if err := b.rig.restart(ctx, b.rig.roles); err != nil {
		return err
	}
	var merges, diffs []float64
	for round := range b.rounds {
		before, err := st.SpaceByID(ctx, space)
		if err != nil {
			return err
		}
		request, err := b.newRequest(ctx, space)
		if err != nil {
			return err
		}
		var changes []change
		for i := range maxChanges {
			at := (i*b.mergeSpace/maxChanges + round) % b.mergeSpace
			changes = append(changes, change{
				"operation": "update_page", "page": ids[at], "document": change{"markdown": pageText(at) + fmt.Sprintf("\n\nEdited in round %d.", round)},
			})
		}
		if err := b.apply(ctx, request, changes); err != nil {
			return err
		}
		began := time.Now()
		if err := b.merge(ctx, request); err != nil {
			return err
		}
		merges = append(merges, millis(time.Since(began)))
		after, err := st.SpaceByID(ctx, space)
		if err != nil {
			return err
		}
		began = time.Now()
		changed, err := st.ChangedPages(ctx, space, before.Revision, after.Revision)
		if err != nil {
			return err
		}
		diffs = append(diffs, millis(time.Since(began)))
		if len(changed) != len(changes) {
			return fmt.Errorf("%d pages differ, want %d", len(changed), len(changes))
		}
	}
	b.report.add(row{What: fmt.Sprintf("merge of %d edits into %d pages", maxChanges, b.mergeSpace), Unit: "ms", Ours: spreadOf(merges)})
	b.report.note(fmt.Sprintf("the node's memory was %.0f MB at most", b.rig.nodeProcess().Memory("VmHWM")))
	b.report.add(row{What: fmt.Sprintf("which of %d pages differ between two revisions (%d do)", b.mergeSpace, maxChanges), Unit: "ms", Ours: spreadOf(diffs)})
	return nil
}

// pathRow compares requests that read pages by their paths in a small and in a large space. It reads pages at the same
// depth in both spaces.
func (b *bench) pathRow(ctx context.Context, small, large string) error {
	read := func(space string, first, last int) func() error {
		i := first
		return func() error {
			if i++; i >= last {
				i = first
			}
			return b.rig.Call(ctx, http.MethodGet, spacePath(space)+"/content/path/"+url.PathEscape(pagePath(i)), nil, http.StatusOK, nil)
		}
	}
	// In both spaces, these pages have one ancestor and no children. An answer lists the page's children, so answers
	// about pages with children are slower.
	c, err := b.alternateAt([]float64{0.5}, b.calls,
		read(large, max(2*siblings, b.largeSpace/siblings), min(siblings*(siblings+1), b.largeSpace)), read(small, siblings, 2*siblings))
	if err != nil {
		return err
	}
	b.report.compare(fmt.Sprintf("a page by its path in %d pages, p50", b.largeSpace), "in 100 pages", "ms", c[0], &budget{AtMost: 1.5})
	return nil
}

// searchRows measures searches for single words, pairs of words, beginnings of words, misspelled words and titles. It
// draws each word with the frequency that the word has in the texts.
func (b *bench) searchRows(ctx context.Context, space string) error {
	random := rand.New(rand.NewPCG(7, 7))
	kinds := []struct {
		name  string
		query func() string
	}{
		{"a word", func() string { return wordOf(random) }},
		{"two words", func() string { return wordOf(random) + " " + wordOf(random) }},
		{"the beginning of a word", func() string { w := wordOf(random); return w[:min(3, len(w))] }},
		{"a misspelled word", func() string { w := wordOf(random); return w[:2] + "x" + w[2:] }},
		{"a title", func() string { return pageTitle(random.IntN(b.largeSpace)) }},
		{"a word of every page", func() string { return everywhere }},
	}
	var all []float64
	var notes []string
	for _, kind := range kinds {
		var times []float64
		for i := range b.calls + b.calls/4 {
			query := kind.query()
			began := time.Now()
			if err := b.rig.Call(ctx, http.MethodGet, searchPath(space, query), nil, http.StatusOK, nil); err != nil {
				return fmt.Errorf("%q: %w", query, err)
			}
			// The first calls fill caches, so they are not measured.
			if i >= b.calls/4 {
				times = append(times, millis(time.Since(began)))
			}
		}
		all = slices.Concat(all, times)
		notes = append(notes, fmt.Sprintf("%s %s", kind.name, number(quantile(times, 0.95))))
	}
	if len(all) == 0 {
		return errors.New("nothing was searched")
	}
	b.report.add(row{
		What: fmt.Sprintf("search in %d pages, p95", b.largeSpace), Unit: "ms", Ours: spreadOf([]float64{quantile(all, 0.95)}), Budget: &budget{AtMost: 50},
		Notes: []string{"p95 in ms of " + strings.Join(notes, ", ")},
	})
	return nil
}
