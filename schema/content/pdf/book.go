package pdf

import (
	"errors"
	"iter"

	"github.com/octavo-docs/octavo/schema"
)

// Book is a source whose blocks have been measured, so that it can be rendered in parts. Package join joins the parts
// into one PDF.
type Book struct {
	source Source
	pages  []measured
}

// measured is the part of a page that a Book stores: the page's anchors and the extent of each block, without the text.
type measured struct {
	anchors []string
	blocks  []extent
}

// extent has the estimated memory that the renderer needs for a block, and the block's numbers of notes and anchors.
type extent struct {
	cost    int64
	notes   int // number of notes at the foot of the sheets
	anchors int // number of the page's anchors from its beginning to the end of this block
}

// Place is a place between two blocks of a page. Block is the number of blocks on the page before the place.
type Place struct{ Page, Block int }

// Part is the content of a book between two places.
type Part struct{ From, To Place }

// Measure reads each page of a source once and measures its blocks.
func Measure(s Source) (*Book, error) {
	made := &Book{source: s, pages: make([]measured, len(s.Pages))}
	b := newBuilder(s)
	for i := range s.Pages {
		document, err := s.Document(i)
		if err != nil {
			return nil, err
		}
		b.begin(i, document)
		page := measured{blocks: make([]extent, len(document.Nodes))}
		for j := range document.Nodes {
			shown := b.block(&document.Nodes[j])
			page.blocks[j] = extent{cost: costOf(&shown), notes: notesOf(&shown), anchors: len(b.anchors)}
		}
		page.anchors = b.anchors
		made.pages[i] = page
		b.forget()
	}
	return made, nil
}

// Whole returns the part that contains all pages.
func (b *Book) Whole() Part { return Part{To: Place{Page: len(b.pages)}} }

// next returns the place after a page.
func next(page int) Place { return Place{Page: page + 1} }

// each iterates over the pages of a part, with their blocks in the part.
func (b *Book) each(p Part) iter.Seq2[int, []extent] {
	return func(yield func(int, []extent) bool) {
		for i := p.From.Page; i < len(b.pages) && (i < p.To.Page || i == p.To.Page && p.To.Block > 0); i++ {
			blocks := b.pages[i].blocks
			if i == p.To.Page {
				blocks = blocks[:p.To.Block]
			}
			if i == p.From.Page {
				blocks = blocks[p.From.Block:]
			}
			if !yield(i, blocks) {
				return
			}
		}
	}
}

func (b *Book) cost(p Part) int64 {
	cost := int64(0)
	for _, blocks := range b.each(p) {
		cost += costOfPage
		for _, block := range blocks {
			cost += block.cost
		}
	}
	return cost
}

// Parts divides the book into parts. The renderer is estimated to need at most `memory` bytes for each part. Usually
// parts begin at pages of the first level, because these pages begin on a new sheet. A part begins at another place
// only if a page of the first level, with the pages below it, needs more memory.
func (b *Book) Parts(memory int64) []Part {
	return b.fill(nil, b.units(b.Whole()), memory-costOfStart)
}

// Halve divides a part for which the renderer has too little memory. If the part has only one block, Halve returns one
// part.
func (b *Book) Halve(p Part) []Part {
	return b.fill(nil, b.units(p), b.cost(p)/2)
}

// fill joins units into parts that need at most `most` bytes each. It divides units that need more bytes.
func (b *Book) fill(made, units []Part, most int64) []Part {
	open, sum := Part{}, int64(0)
	flush := func() {
		if sum > 0 {
			made = append(made, open)
		}
		sum = 0
	}
	for _, unit := range units {
		cost := b.cost(unit)
		switch smaller := b.units(unit); {
		case sum > 0 && sum+cost <= most:
			open.To, sum = unit.To, sum+cost
		case cost <= most || len(smaller) < 2:
			flush()
			open, sum = unit, cost
		default:
			flush()
			made = b.fill(made, smaller, most)
		}
	}
	flush()
	return made
}

// units divides a part at the places where a division changes the look of the book least. If the part has several pages
// of the first level, it divides before these pages. Otherwise it divides before every page, or between the blocks of a
// single page.
func (b *Book) units(p Part) []Part {
	last := p.To.Page
	if p.To.Block == 0 {
		last--
	}
	for _, top := range []bool{true, false} {
		made := []Part{{From: p.From}}
		for i := p.From.Page + 1; i <= last; i++ {
			if !top || b.source.Pages[i].Level == 0 {
				made[len(made)-1].To = Place{Page: i}
				made = append(made, Part{From: Place{Page: i}})
			}
		}
		made[len(made)-1].To = p.To
		if len(made) > 1 {
			return made
		}
	}
	if last < p.From.Page {
		return []Part{p}
	}
	blocks := len(b.pages[last].blocks)
	end := blocks
	if p.To.Block > 0 {
		end = p.To.Block
	}
	if end-p.From.Block < 2 {
		return []Part{p}
	}
	made := make([]Part, 0, end-p.From.Block)
	for i := p.From.Block; i < end; i++ {
		made = append(made, Part{From: Place{last, i}, To: Place{last, i + 1}})
	}
	if end == blocks {
		made[len(made)-1].To = next(last)
	}
	return made
}

// PlaceOf returns the name of the place at which a page begins. Bookmarks and links lead to this name.
func PlaceOf(page int) string { return placeOf(page) }

// partInfo is the data about a part for the layout.
type partInfo struct {
	Front bool `json:"front"`
	// Sheet is the number of the first sheet, and Notes is the number of notes in the earlier parts of the book.
	Sheet int `json:"sheet"`
	Notes int `json:"notes"`
	From  int `json:"from"`
	To    int `json:"to"`
	// Places has the names of the places in the part.
	Places map[string]bool `json:"places"`
	// Titles has the titles of all pages. It is set only for the front part.
	Titles []heading `json:"titles,omitempty"`
}

// heading is the title of a page in the contents and the bookmarks.
type heading struct {
	Title string `json:"title"`
	Emoji string `json:"emoji"`
	Level int    `json:"level"`
	Sheet int    `json:"sheet"`
}

// Front yields the renderer's input for the cover, the contents and the bookmarks. `sheets` has, for each page, the
// number of the sheet on which the page begins, counted from 1.
func (b *Book) Front(sheets []int) iter.Seq2[File, error] {
	about := partInfo{Front: true, Sheet: 1, Places: map[string]bool{}, Titles: make([]heading, len(b.pages))}
	titles := newBuilder(b.source)
	for i, page := range b.source.Pages {
		about.Places[placeOf(i)] = true
		about.Titles[i] = heading{titles.plain(page.Title), titles.emoji(page.Emoji), levelOf(page), sheets[i]}
	}
	return b.files(Part{}, &about)
}

// Files yields the renderer's input for a part. The part's first sheet has the number `sheet`, counted from 1. At any
// time, only one page and one image are in memory.
func (b *Book) Files(p Part, sheet int) iter.Seq2[File, error] {
	about := partInfo{Sheet: sheet, From: p.From.Page, To: p.From.Page, Places: map[string]bool{}}
	for _, blocks := range b.each(Part{To: p.From}) {
		for _, block := range blocks {
			about.Notes += block.notes
		}
	}
	for i := range b.each(p) {
		about.To = i + 1
		from, to := b.bounds(p, i)
		if from == 0 {
			about.Places[placeOf(i)] = true
		}
		first, last := b.pages[i].anchorsOf(from, to)
		for _, anchor := range b.pages[i].anchors[first:last] {
			about.Places[labelOf(i, anchor)] = true
		}
	}
	return b.files(p, &about)
}

// bounds returns the range of a page's blocks that belong to a part: the index of the first block, and the index after
// the last block.
func (b *Book) bounds(p Part, page int) (from, to int) {
	to = len(b.pages[page].blocks)
	if page == p.From.Page {
		from = p.From.Block
	}
	if page == p.To.Page {
		to = p.To.Block
	}
	return from, to
}

// anchorsOf returns the range of a page's anchors that are in a range of blocks: the index of the first anchor, and the
// index after the last anchor.
func (m *measured) anchorsOf(from, to int) (first, last int) {
	if from > 0 {
		first = m.blocks[from-1].anchors
	}
	last = first
	if to > from {
		last = m.blocks[to-1].anchors
	}
	return first, last
}

func (b *Book) files(p Part, about *partInfo) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		w := writer{builder: newBuilder(b.source), yield: yield}
		anchors := make([][]string, len(b.pages))
		for i := range b.pages {
			anchors[i] = b.pages[i].anchors
		}
		for i := range b.each(p) {
			from, to := b.bounds(p, i)
			w.page(i, func(document *schema.Document) error {
				if len(document.Nodes) != len(b.pages[i].blocks) {
					return errChanged
				}
				document.Nodes = document.Nodes[from:to]
				first, _ := b.pages[i].anchorsOf(from, to)
				w.anchors = append(w.anchors, b.pages[i].anchors[:first]...)
				return nil
			}, from > 0)
		}
		w.rest(anchors, about)
	}
}

var errChanged = errors.New("pdf: a page has changed since it was measured")
