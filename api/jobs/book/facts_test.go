package book_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	reader "github.com/ledongthuc/pdf"
)

// facts are the texts, labels, bookmarks and links that a reader of a PDF sees.
type facts struct {
	texts, labels []string // texts and labels have an entry for each sheet.
	outline       []string // outline has a line for each bookmark.
	links         []string // links has a line for each link.
}

func factsOf(t *testing.T, text []byte) facts {
	t.Helper()
	r, err := reader.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	root := r.Trailer().Key("Root")
	f := facts{}
	sheets := map[int64]int{} // sheets has the number of each sheet, by the sheet's key in the tree of tags.
	for i := 1; i <= r.NumPage(); i++ {
		page := r.Page(i)
		key := page.V.Key("StructParents").Int64()
		if other, twice := sheets[key]; twice {
			t.Errorf("sheets %d and %d have the tags %d", other, i, key)
		}
		sheets[key] = i
	}
	places := map[string]reader.Value{}
	names := root.Key("Names").Key("Dests").Key("Names")
	for i := 0; i < names.Len(); i += 2 {
		places[names.Index(i).RawString()] = names.Index(i + 1)
	}
	place := func(to reader.Value) string {
		if to.Kind() == reader.String {
			name := to.RawString()
			if to = places[name]; to.Len() == 0 {
				t.Errorf("no place is called %q", name)
			}
		}
		sheet, ok := sheets[to.Index(0).Key("StructParents").Int64()]
		if !ok || to.Index(0).Key("Type").Name() != "Page" {
			t.Errorf("a place is on no sheet: %v", to)
		}
		return fmt.Sprintf("%d (%.1f, %.1f)", sheet, to.Index(2).Float64(), to.Index(3).Float64())
	}
	for i := 1; i <= r.NumPage(); i++ {
		page := r.Page(i)
		shown, err := page.GetPlainText(nil)
		if err != nil {
			t.Fatal(err)
		}
		f.texts = append(f.texts, shown)
		notes := page.V.Key("Annots")
		for j := range notes.Len() {
			note := notes.Index(j)
			to := note.Key("A").Key("URI").RawString()
			if to == "" {
				to = place(note.Key("Dest"))
			}
			rect := note.Key("Rect")
			f.links = append(f.links, fmt.Sprintf("%d (%.1f, %.1f): %s", i, rect.Index(0).Float64(),
				rect.Index(1).Float64(), to))
		}
	}
	labels := root.Key("PageLabels").Key("Nums")
	for i := 0; i < labels.Len(); i += 2 {
		label := labels.Index(i + 1)
		f.labels = append(f.labels, fmt.Sprint(labels.Index(i).Int64(), label.Key("S"), label.Key("St").Int64()))
	}
	var outline func(item reader.Value, depth int)
	outline = func(item reader.Value, depth int) {
		for ; item.Kind() == reader.Dict; item = item.Key("Next") {
			f.outline = append(f.outline, fmt.Sprintf("%s%s: %s", strings.Repeat(" ", depth), item.Key("Title").Text(),
				place(item.Key("Dest"))))
			outline(item.Key("First"), depth+1)
		}
	}
	outline(root.Key("Outlines").Key("First"), 0)
	checkTags(t, root, sheets)
	return f
}

// checkTags follows the tags from the sheets up to the document. It checks that each tag has a parent, and that no two
// tags have the same name.
func checkTags(t *testing.T, root reader.Value, sheets map[int64]int) {
	t.Helper()
	tags := root.Key("StructTreeRoot")
	if tags.Key("K").Len() != 1 || tags.Key("K").Index(0).Key("S").Name() != "Document" {
		t.Errorf("the tags are not in one document: %v", tags.Key("K"))
	}
	parents := tags.Key("ParentTree").Key("Nums")
	found, last := map[int64]bool{}, int64(-1)
	for i := 0; i < parents.Len(); i += 2 {
		key := parents.Index(i).Int64()
		if key <= last {
			t.Errorf("the key %d follows %d", key, last)
		}
		found[key], last = true, key
		of := parents.Index(i + 1)
		if of.Kind() == reader.Array {
			of = of.Index(0)
		}
		steps := 0
		for ; of.Key("Type").Name() == "StructElem" && steps < 100; steps++ {
			of = of.Key("P")
		}
		if steps == 0 || of.Key("Type").Name() != "StructTreeRoot" {
			t.Errorf("the tag of %d is in no document", key)
		}
	}
	if next := tags.Key("ParentTreeNextKey").Int64(); next <= last {
		t.Errorf("the next key is %d, and %d is taken", next, last)
	}
	for key, sheet := range sheets {
		if !found[key] {
			t.Errorf("sheet %d has no tags", sheet)
		}
	}
	names, before := tags.Key("IDTree").Key("Names"), ""
	for i := 0; i < names.Len(); i += 2 {
		name := names.Index(i).RawString()
		if name <= before || names.Index(i+1).Key("ID").RawString() != name {
			t.Errorf("the tag %q follows %q and has the name %q", name, before, names.Index(i+1).Key("ID").RawString())
		}
		before = name
	}
}
