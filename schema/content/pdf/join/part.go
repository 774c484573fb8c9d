package join

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Scheme is the scheme of the addresses of links into other parts. After the scheme, the address has the name of the
// place at which the target page begins. A bookmark leads to this place, and its title describes the link. If the link
// leads to another place on the page, the address continues with # and the name of this place.
const Scheme = "octavo:"

// End is the name of a place in each part. The sheet of this place and all later sheets are left out of the book.
const End = "end"

// Part is a PDF that the renderer has made of a part of a book.
type Part struct {
	from    io.ReaderAt
	offsets []int64 // offsets of the objects in the file, by number; if no object has a number, its offset is 0
	ends    []int64 // offsets of the ends of the objects, by number
	order   []ref   // the objects in the order of the file
	trailer dict
	catalog dict
	sheets  []ref          // the sheets that the book contains
	dropped []ref          // the sheets that are left out of the book
	places  map[string]ref // the object of each place, by the place's name
	on      map[string]int // the index of each place's sheet, by the place's name
}

// Open reads the tables of a part: the positions of its objects, its sheets and its places.
func Open(from io.ReaderAt, size int64) (*Part, error) {
	p := &Part{from: from, places: map[string]ref{}, on: map[string]int{}}
	if err := p.table(size); err != nil {
		return nil, err
	}
	root, _ := p.trailer.get("Root").(ref)
	var err error
	if p.catalog, err = p.dict(root); err != nil {
		return nil, err
	}
	pages, _ := p.catalog.get("Pages").(ref)
	if p.sheets, err = p.kids(pages); err != nil {
		return nil, err
	}
	if err := p.names(); err != nil {
		return nil, err
	}
	end, ok := p.on[End]
	if !ok {
		return nil, fmt.Errorf("%w: it has no end", errForm)
	}
	p.sheets, p.dropped = p.sheets[:end], p.sheets[end:]
	return p, nil
}

// Sheets returns the number of sheets that the book contains.
func (p *Part) Sheets() int { return len(p.sheets) }

// Sheet returns the index of the sheet that contains a place, counted from 0. The second result is false if the book
// does not contain the sheet.
func (p *Part) Sheet(place string) (int, bool) {
	n, ok := p.on[place]
	return n, ok && n < len(p.sheets)
}

// tailSize is the number of bytes that are read at the end of a file. It is larger than the text after the trailer.
const tailSize = 64

// lineSize is the length of a line in the cross-reference table, in bytes.
const lineSize = 20

// table reads the positions of the objects from the cross-reference table.
func (p *Part) table(size int64) error {
	tail, err := p.read(max(0, size-tailSize), size)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 {
		return fmt.Errorf("%w: it has no table of references", errForm)
	}
	word, _, _ := bytes.Cut(bytes.TrimSpace(tail[at+len("startxref"):]), []byte("\n"))
	start, err := strconv.ParseInt(string(bytes.TrimSpace(word)), 10, 64)
	if err != nil || start <= 0 || start >= size {
		return errForm
	}
	all, err := p.read(start, size)
	if err != nil {
		return err
	}
	in := parser{from: all}
	if !in.eat("xref") || !in.eat("0") {
		return errForm
	}
	in.blanks()
	count, ok := number(in.word())
	in.blanks()
	if !ok || count <= 0 || count > (len(all)-in.at)/lineSize {
		return errForm
	}
	p.offsets, p.ends = make([]int64, count), make([]int64, count)
	for i := range count {
		line := all[in.at+i*lineSize : in.at+(i+1)*lineSize]
		if line[17] != 'n' {
			continue
		}
		offset, err := strconv.ParseInt(string(line[:10]), 10, 64)
		if err != nil || offset <= 0 || offset >= start {
			return errForm
		}
		p.offsets[i], p.order = offset, append(p.order, ref(i))
	}
	slices.SortFunc(p.order, func(a, b ref) int { return int(p.offsets[a] - p.offsets[b]) })
	for i, n := range p.order {
		p.ends[n] = start
		if i+1 < len(p.order) {
			p.ends[n] = p.offsets[p.order[i+1]]
		}
	}
	if in.at += count * lineSize; !in.eat("trailer") {
		return errForm
	}
	trailer, err := in.value(0)
	p.trailer, ok = trailer.(dict)
	if err != nil || !ok {
		return errForm
	}
	return nil
}

func (p *Part) read(from, to int64) ([]byte, error) {
	made := make([]byte, to-from)
	n, err := p.from.ReadAt(made, from)
	if n == len(made) {
		return made, nil
	}
	return nil, err
}

// object reads an object. If the object is a stream, it returns the stream's dictionary, and the bytes after the
// dictionary.
func (p *Part) object(n ref) (value, []byte, error) {
	if n <= 0 || int(n) >= len(p.offsets) || p.offsets[n] == 0 {
		return nil, nil, fmt.Errorf("%w: it has no object %d", errForm, n)
	}
	all, err := p.read(p.offsets[n], p.ends[n])
	if err != nil {
		return nil, nil, err
	}
	return parseObject(n, all)
}

func parseObject(n ref, all []byte) (value, []byte, error) {
	in := parser{from: all}
	in.blanks()
	if id, ok := number(in.word()); !ok || ref(id) != n || !in.eat("0") || !in.eat("obj") {
		return nil, nil, fmt.Errorf("%w: object %d is not where it should be", errForm, n)
	}
	v, err := in.value(0)
	if err != nil {
		return nil, nil, err
	}
	d, ok := v.(dict)
	if !ok || !in.eat("stream") {
		return v, nil, nil
	}
	length, ok := number(d.get("Length"))
	rest := bytes.TrimPrefix(bytes.TrimPrefix(all[in.at:], []byte("\r")), []byte("\n"))
	if !ok || length < 0 || length > len(rest) {
		return nil, nil, fmt.Errorf("%w: the stream of object %d has no length", errForm, n)
	}
	return d, rest[:length:length], nil
}

func (p *Part) dict(n ref) (dict, error) {
	v, _, err := p.object(n)
	if err != nil {
		return nil, err
	}
	d, ok := v.(dict)
	if !ok {
		return nil, fmt.Errorf("%w: object %d is no dictionary", errForm, n)
	}
	return d, nil
}

// inline returns the value of a member. If the member is a reference, inline returns the object to which it refers.
func (p *Part) inline(v value) (value, error) {
	if n, ok := v.(ref); ok {
		v, _, err := p.object(n)
		return v, err
	}
	return v, nil
}

// kids lists the sheets below a node of the tree of pages. Typst writes this tree with only one level.
func (p *Part) kids(pages ref) ([]ref, error) {
	node, err := p.dict(pages)
	if err != nil {
		return nil, err
	}
	list, _ := node.get("Kids").(array)
	count, _ := number(node.get("Count"))
	if len(list) != count || count == 0 {
		return nil, fmt.Errorf("%w: its sheets are not in one list", errForm)
	}
	made := make([]ref, len(list))
	for i, kid := range list {
		made[i], _ = kid.(ref)
	}
	return made, nil
}

// names reads the places of the part.
func (p *Part) names() error {
	sheet := make(map[ref]int, len(p.sheets))
	for i, n := range p.sheets {
		sheet[n] = i
	}
	names, err := p.inline(p.catalog.get("Names"))
	if err != nil {
		return err
	}
	tree, _ := names.(dict)
	places, err := p.inline(tree.get("Dests"))
	if err != nil {
		return err
	}
	found, _ := places.(dict)
	return pairs(found, "Names", func(key, v value) error {
		name, isText := key.(text)
		place, isRef := v.(ref)
		if !isText || !isRef {
			return errForm
		}
		to, _, err := p.object(place)
		if err != nil {
			return err
		}
		target, _ := to.(array)
		if len(target) == 0 {
			return errForm
		}
		page, _ := target[0].(ref)
		p.places[string(name.bytes())], p.on[string(name.bytes())] = place, sheet[page]
		return nil
	})
}

// pairs calls `each` for each entry of a name tree or a number tree. Typst writes such a tree as one list.
func pairs(tree dict, member string, each func(key, v value) error) error {
	if tree.get("Kids") != nil {
		return fmt.Errorf("%w: a tree has branches", errForm)
	}
	list, _ := tree.get(member).(array)
	for i := 0; i+1 < len(list); i += 2 {
		if err := each(list[i], list[i+1]); err != nil {
			return err
		}
	}
	return nil
}
