package join

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// These numbers belong to objects of the book. Each of these objects replaces an object of every part.
const (
	catalogObject ref = iota + 1
	pagesObject
	tagsObject
	documentObject
	firstFree
)

// book is the result of joining the parts.
type book struct {
	out     *bufio.Writer
	at      int64
	offsets []int64 // positions of the objects, by number
	parts   []*Part
	id      string          // the book's id, which replaces the front's id
	titles  map[string]text // titles of the bookmarks, by the name of the place to which the bookmark leads
	// numbers has a map for each part. If an object of the book replaces an object of the part, the map has the number
	// of the object in the book. The number is 0 if the object of the part is left out.
	numbers []map[ref]ref
	bases   []ref            // for each part, the number that is added to the numbers of its other objects
	sheets  array            // the sheets of all parts
	labels  array            // the labels of the sheets; they are the sheets' numbers
	tags    array            // the tags directly below the document's tag
	parents array            // for each piece of tagged content, the tag that contains it
	ids     map[string]value // the tags that have a name, by their names
	places  map[string]ref
	roles   dict
	tagged  []dict // the roots of the parts' tags
	key     int    // the number that is added to the keys of the current part's entries in parents
}

// Join joins the parts and writes the book. The first part is the front.
func Join(out io.Writer, parts []*Part) error {
	b := &book{
		out: bufio.NewWriterSize(out, 1<<16), parts: parts, titles: map[string]text{}, ids: map[string]value{},
		places: map[string]ref{}, numbers: make([]map[ref]ref, len(parts)), bases: make([]ref, len(parts)),
		tagged: make([]dict, len(parts)), offsets: make([]int64, firstFree),
	}
	sum := sha256.New()
	for _, p := range parts {
		id, _ := p.trailer.get("ID").(array)
		sum.Write(appendValue(nil, id, func(n ref) ref { return n }))
	}
	b.id = base64.StdEncoding.EncodeToString(sum.Sum(nil)[:16])
	b.write([]byte("%PDF-1.7\n%\x80\x80\x80\x80\n"))
	free := firstFree
	for i := range parts {
		b.bases[i] = free
		free += ref(len(parts[i].offsets))
		if err := b.plan(i); err != nil {
			return err
		}
	}
	b.offsets = append(b.offsets, make([]int64, free-firstFree)...)
	if err := b.lead(); err != nil {
		return err
	}
	for i := range parts {
		if err := b.part(i); err != nil {
			return err
		}
	}
	return b.finish()
}

func (b *book) write(text []byte) {
	b.at += int64(len(text))
	_, _ = b.out.Write(text) // the writer stores the error, and Flush returns it
}

// to returns a function that converts the number of an object in a part to the object's number in the book.
func (b *book) to(part int) func(ref) ref {
	numbers, base, most := b.numbers[part], b.bases[part], ref(len(b.parts[part].offsets))
	return func(n ref) ref {
		if other, known := numbers[n]; known {
			return other
		}
		if n <= 0 || n >= most {
			return 0
		}
		return base + n
	}
}

// plan finds the objects of a part that another object of the book replaces, and the objects that are left out.
func (b *book) plan(part int) error {
	p := b.parts[part]
	numbers := map[ref]ref{}
	b.numbers[part] = numbers
	root, _ := p.trailer.get("Root").(ref)
	numbers[root] = 0
	for _, member := range []string{"PageLabels", "Names"} {
		if n, ok := p.catalog.get(member).(ref); ok {
			numbers[n] = 0
		}
	}
	pages, _ := p.catalog.get("Pages").(ref)
	numbers[pages] = pagesObject
	if part > 0 {
		for _, n := range []value{p.trailer.get("Info"), p.catalog.get("Metadata"), p.catalog.get("Outlines")} {
			if n, ok := n.(ref); ok {
				numbers[n] = 0
			}
		}
	}
	tags, ok := p.catalog.get("StructTreeRoot").(ref)
	if !ok {
		return fmt.Errorf("%w: it has no tags", errForm)
	}
	var err error
	if b.tagged[part], err = p.dict(tags); err != nil {
		return err
	}
	numbers[tags] = tagsObject
	top, _ := b.tagged[part].get("K").(array)
	if len(top) != 1 {
		return fmt.Errorf("%w: its tags are not in one document", errForm)
	}
	document, _ := top[0].(ref)
	numbers[document] = documentObject
	for _, n := range p.dropped {
		sheet, err := p.dict(n)
		if err != nil {
			return err
		}
		numbers[n] = 0
		notes, _ := sheet.get("Annots").(array)
		for _, of := range append(array{sheet.get("Contents")}, notes...) {
			if n, ok := of.(ref); ok {
				numbers[n] = 0
			}
		}
	}
	for name, place := range p.places {
		switch n, ok := p.on[name]; {
		case part == 0 || !ok || n >= len(p.sheets):
			numbers[place] = 0
		default:
			b.places[name] = b.to(part)(place)
		}
	}
	return nil
}

// lead replaces the places in the front by the places with the same names in the other parts. It also reads the titles
// of the bookmarks.
func (b *book) lead() error {
	front := b.parts[0]
	leads := map[ref]string{}
	for name, place := range front.places {
		if other, twice := leads[place]; twice {
			return fmt.Errorf("%w: the places %q and %q are one", errForm, name, other)
		}
		leads[place] = name
		b.numbers[0][place] = b.places[name]
	}
	next := []value{}
	outlines, _ := front.catalog.get("Outlines").(ref)
	next = append(next, outlines)
	for len(next) > 0 {
		n, ok := next[len(next)-1].(ref)
		next = next[:len(next)-1]
		if !ok || n == 0 {
			continue
		}
		item, err := front.dict(n)
		if err != nil {
			return err
		}
		next = append(next, item.get("First"), item.get("Next"))
		place, isRef := item.get("Dest").(ref)
		title, isText := item.get("Title").(text)
		if isRef && isText {
			if b.numbers[0][place] == 0 {
				return fmt.Errorf("%w: a bookmark leads nowhere", errForm)
			}
			b.titles[leads[place]] = title
		}
	}
	return nil
}

// part writes the objects of a part, in the order of the part's file, and collects the data that all parts share.
func (b *book) part(part int) error {
	p := b.parts[part]
	to := b.to(part)
	if err := b.collect(part); err != nil {
		return err
	}
	metadata, _ := p.catalog.get("Metadata").(ref)
	var all, made []byte
	size := int64(0)
	for _, n := range p.order {
		size = max(size, p.ends[n])
	}
	in := bufio.NewReaderSize(nil, 1<<16)
	at := int64(-1)
	for _, n := range p.order {
		if _, other := b.numbers[part][n]; other {
			continue
		}
		if at != p.offsets[n] {
			in.Reset(io.NewSectionReader(p.from, p.offsets[n], size-p.offsets[n]))
		}
		at = p.ends[n]
		all = slices.Grow(all[:0], int(at-p.offsets[n]))[:at-p.offsets[n]]
		if _, err := io.ReadFull(in, all); err != nil {
			return err
		}
		v, stream, err := parseObject(n, all)
		if err != nil {
			return err
		}
		if d, ok := v.(dict); ok {
			if n == metadata {
				stream = b.metadata(stream)
				d = d.set("Length", numeral(len(stream)))
			}
			if v, err = b.adapted(part, d); err != nil {
				return err
			}
		}
		made = appendValue(made[:0], v, to)
		b.object(to(n), made, stream)
	}
	b.key += keys(b.tagged[part])
	return nil
}

func (b *book) object(n ref, text, stream []byte) {
	b.offsets[n] = b.at
	b.write(append(strconv.AppendInt(nil, int64(n), 10), " 0 obj\n"...))
	b.write(text)
	if stream != nil {
		b.write([]byte("\nstream\n"))
		b.write(stream)
		b.write([]byte("\nendstream"))
	}
	b.write([]byte("\nendobj\n"))
}

// keys returns how many keys a part uses in its list of parents.
func keys(tags dict) int {
	next, _ := number(tags.get("ParentTreeNextKey"))
	return next
}

// adapted returns a dictionary of a part in the form that the book needs.
func (b *book) adapted(part int, d dict) (dict, error) {
	for _, member := range []string{"StructParents", "StructParent"} {
		if n, ok := number(d.get(member)); ok {
			d.set(member, numeral(b.key+n))
		}
	}
	switch d.get("Type") {
	case word("/Annot"):
		action, _ := d.get("A").(dict)
		address, _ := action.get("URI").(text)
		if len(address) == 0 || !bytes.HasPrefix(address.bytes(), []byte(Scheme)) {
			return d, nil
		}
		mark, name, other := strings.Cut(string(address.bytes()[len(Scheme):]), "#")
		if !other {
			name = mark
		}
		if b.places[name] == 0 {
			return nil, fmt.Errorf("join: a link leads to %q, which is nowhere", name)
		}
		d = d.without("A").set("Dest", written([]byte(name)))
		if title := b.titles[mark]; title != nil {
			d = d.set("Contents", title)
		}
	case word("/StructElem"):
		if id, ok := d.get("ID").(text); ok {
			d.set("ID", named(part, id))
		}
		attributes, _ := d.get("A").(array)
		for _, a := range attributes {
			a, _ := a.(dict)
			headers, _ := a.get("Headers").(array)
			for i := range headers {
				if id, ok := headers[i].(text); ok {
					headers[i] = named(part, id)
				}
			}
		}
	}
	return d, nil
}

// named returns the name of a part's tag in the book. The name contains the number of the part, because different parts
// use the same names.
func named(part int, id text) text {
	return written(fmt.Appendf(nil, "%d %s", part, id.bytes()))
}

// collect adds a part's entries to the objects that exist once in the book, such as the list of sheets.
func (b *book) collect(part int) error {
	p, to := b.parts[part], b.to(part)
	tags := b.tagged[part]
	before := len(b.sheets)
	for _, n := range p.sheets {
		b.sheets = append(b.sheets, to(n))
	}
	labels, err := p.inline(p.catalog.get("PageLabels"))
	if err != nil {
		return err
	}
	numbers, _ := labels.(dict)
	err = pairs(numbers, "Nums", func(key, v value) error {
		if n, ok := number(key); ok && n < len(p.sheets) {
			b.labels = append(b.labels, numeral(before+n), moved(v, to))
		}
		return nil
	})
	if err != nil {
		return err
	}
	top, _ := tags.get("K").(array)
	root, _ := top[0].(ref)
	document, err := p.dict(root)
	if err != nil {
		return err
	}
	children, _ := document.get("K").(array)
	b.tags = append(b.tags, moved(children, to).(array)...)
	roles, _ := tags.get("RoleMap").(dict)
	for _, role := range roles {
		b.roles = b.roles.set(role.key, role.value)
	}
	parents, err := p.inline(tags.get("ParentTree"))
	if err != nil {
		return err
	}
	tree, _ := parents.(dict)
	err = pairs(tree, "Nums", func(key, v value) error {
		n, ok := number(key)
		if !ok || n >= keys(tags) {
			return errForm
		}
		b.parents = append(b.parents, numeral(b.key+n), moved(v, to))
		return nil
	})
	if err != nil {
		return err
	}
	ids, err := p.inline(tags.get("IDTree"))
	if err != nil {
		return err
	}
	tree, _ = ids.(dict)
	return pairs(tree, "Names", func(key, v value) error {
		id, ok := key.(text)
		if !ok {
			return errForm
		}
		b.ids[string(named(part, id).bytes())] = moved(v, to)
		return nil
	})
}

// moved returns a value of a part in which the numbers of objects are replaced by their numbers in the book.
func moved(v value, to func(ref) ref) value {
	switch v := v.(type) {
	case ref:
		if n := to(v); n != 0 {
			return n
		}
		return word("null")
	case array:
		made := make(array, len(v))
		for i := range v {
			made[i] = moved(v[i], to)
		}
		return made
	case dict:
		made := make(dict, len(v))
		for i := range v {
			made[i] = entry{v[i].key, moved(v[i].value, to)}
		}
		return made
	}
	return v
}

// metadata returns the metadata of the front with the number of sheets in the book and a new id.
func (b *book) metadata(of []byte) []byte {
	ids, _ := b.parts[0].trailer.get("ID").(array)
	for _, id := range ids {
		if id, ok := id.(text); ok {
			of = bytes.ReplaceAll(of, id.bytes(), []byte(b.id))
		}
	}
	before, rest, _ := bytes.Cut(of, []byte("<xmpTPg:NPages>"))
	_, after, found := bytes.Cut(rest, []byte("</xmpTPg:NPages>"))
	if !found {
		return of
	}
	sheets := 0
	for _, p := range b.parts {
		sheets += len(p.sheets)
	}
	return fmt.Appendf(nil, "%s<xmpTPg:NPages>%d</xmpTPg:NPages>%s", before, sheets, after)
}

// names returns a name tree of PDF that consists of only one list.
func names[V value](of map[string]V) dict {
	list := make(array, 0, 2*len(of))
	sorted := make([]string, 0, len(of))
	for name := range of {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		list = append(list, written([]byte(name)), of[name])
	}
	return dict{{"Names", list}}
}

// finish writes the objects that exist once in the book, and the cross-reference table.
func (b *book) finish() error {
	same := func(n ref) ref { return n }
	front, to := b.parts[0], b.to(0)
	put := func(n ref, d dict) { b.object(n, appendValue(nil, d, same), nil) }
	put(pagesObject, dict{{"Type", word("/Pages")}, {"Count", numeral(len(b.sheets))}, {"Kids", b.sheets}})

	top, _ := b.tagged[0].get("K").(array)
	root, _ := top[0].(ref)
	document, err := front.dict(root)
	if err != nil {
		return err
	}
	put(documentObject, moved(document, to).(dict).set("K", b.tags))
	tags := moved(b.tagged[0], to).(dict).set("ParentTree", dict{{"Nums", b.parents}}).
		set("ParentTreeNextKey", numeral(b.key))
	if len(b.roles) > 0 {
		tags = tags.set("RoleMap", b.roles)
	}
	if len(b.ids) > 0 {
		tags = tags.set("IDTree", names(b.ids))
	}
	put(tagsObject, tags)
	catalog := moved(front.catalog, to).(dict).set("Names", dict{{"Dests", names(b.places)}})
	put(catalogObject, catalog.set("PageLabels", dict{{"Nums", b.labels}}))

	start := b.at
	b.write(fmt.Appendf(nil, "xref\n0 %d\n0000000000 65535 f \n", len(b.offsets)))
	for _, at := range b.offsets[1:] {
		if at == 0 {
			b.write([]byte("0000000000 00000 f \n"))
			continue
		}
		b.write(fmt.Appendf(nil, "%010d 00000 n \n", at))
	}
	id := text("(" + b.id + ")")
	trailer := dict{
		{"Size", numeral(len(b.offsets))}, {"Root", catalogObject}, {"Info", moved(front.trailer.get("Info"), to)},
		{"ID", array{id, id}},
	}
	b.write(fmt.Appendf(nil, "trailer\n%s\nstartxref\n%d\n%%%%EOF", appendValue(nil, trailer, same), start))
	return b.out.Flush()
}
