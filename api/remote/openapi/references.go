package openapi

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// source is a document that contains parts of the specification. The specification itself is a source without a name.
type source struct {
	name string
	// url is the address of the document. It is nil if a client sent the document as a text.
	url  *url.URL
	root *node
	// failed is the reason why the document could not be read.
	failed error
}

// load reads another document by its address. The address has no fragment. `load` is nil if the specification was sent
// as a text.
type load func(target *url.URL) (*source, error)

// references has the references of one specification: their targets, and the parts that must be moved into the
// specification.
type references struct {
	root *source
	load load
	// sources has the other documents, by their addresses.
	sources map[string]*source
	// links has the new forms of the references.
	links []link
	// moved has the parts of other documents to which the specification refers. `ordered` has these parts in the order
	// in which they were found.
	moved   map[movedKey]*moved
	ordered []*moved
	// leads has, for each object with a reference, the target of the reference. `starts` has these objects in the order
	// in which they were found.
	leads  map[*node]leads
	starts []*node
}

type leads struct {
	to *node
	at place
}

type link struct {
	node   *node
	to     *moved // to is nil if the target is a part of the specification itself
	within string // JSON pointer inside the target
}

type movedKey struct {
	node *node
	kind string
}

type moved struct {
	node *node
	kind string
	name string // name in the other document; the specification uses this name if it is free
	// instead is an object of the specification that consists only of a reference to this part. `at` is the path of
	// this object.
	instead *node
	at      *path
}

// follow finds the target of a reference. It adds the target to the queue, so that it is checked as an object of this
// kind. `n` is the object with the reference. It is nil if the reference is only a text.
func (c *checker) follow(kind string, n, reference *node, at place) {
	text := reference.str()
	short := shorten(text, 200)
	target, err := url.Parse(text)
	if err != nil {
		c.wrong(reference, at, "refers to %q, which is no address", short)
		return
	}
	in, ok := c.sourceOf(target, reference, at, short)
	if !ok {
		return
	}
	pointer := target.Fragment
	if pointer != "" && !strings.HasPrefix(pointer, "/") {
		// The reference is an anchor. JSON Schema allows anchors anywhere in the document.
		if in != c.refs.root {
			c.wrong(reference, at, "refers to an anchor of another document, %q: use a JSON pointer", short)
		}
		return
	}
	found, path := in.root.find(pointer)
	if found == nil {
		c.wrong(reference, at, "refers to %q, which is not there", short)
		return
	}
	c.queue = append(c.queue, queued{visit{found, kind}, place{in, path}})
	if n != nil && c.refs.leads[n].to == nil {
		c.refs.leads[n], c.refs.starts = leads{found, at}, append(c.refs.starts, n)
	}
	if in == c.refs.root {
		if at.in != in || target.Scheme+target.Host+target.Path != "" {
			c.refs.links = append(c.refs.links, link{node: reference, within: pointer})
		}
		return
	}
	key := movedKey{found, kind}
	if c.refs.moved[key] == nil {
		c.refs.moved[key] = &moved{node: found, kind: kind, name: nameOf(in, pointer)}
		c.refs.ordered = append(c.refs.ordered, c.refs.moved[key])
	}
	part := c.refs.moved[key]
	if kind == "pathItem" && part.instead == nil && n != nil && len(n.names) == 1 && at.in == c.refs.root {
		part.instead, part.at = n, at.path
	}
	c.refs.links = append(c.refs.links, link{node: reference, to: part})
}

// sourceOf returns the document to which a reference leads.
func (c *checker) sourceOf(target *url.URL, reference *node, at place, short string) (*source, bool) {
	if target.Scheme+target.Host+target.Path+target.RawQuery+target.Opaque == "" {
		return at.in, true
	}
	if at.in.url == nil {
		c.wrong(reference, at, "refers to another document, %q: send one that holds everything, or the URL of this one", short)
		return nil, false
	}
	address := at.in.url.ResolveReference(target)
	address.Fragment, address.RawFragment = "", ""
	key := address.String()
	if key == c.refs.root.url.String() {
		return c.refs.root, true
	}
	known := c.refs.sources[key]
	if known == nil {
		known = &source{}
		read, err := c.refs.load(address)
		if err == nil {
			known = read
		}
		known.name, known.failed = key, err
		c.refs.sources[key] = known
	}
	if known.failed == nil {
		return known, true
	}
	if problem, ok := errors.AsType[*Problem](known.failed); ok && problem.Code != schema.SpecParseError {
		c.add(reference, at, problem.Code, "refers to %q, which cannot be read: %s", short, problem.Text)
		c.retryable = c.retryable || problem.Retryable
	} else if ok {
		inside := *problem
		inside.Document = known.name
		if !c.full() {
			c.problems = append(c.problems, &inside)
		}
		known.failed = errTold
	} else if !errors.Is(known.failed, errTold) {
		c.add(reference, at, schema.SpecParseError, "refers to %q, which %s", short, known.failed.Error())
	}
	return nil, false
}

var errTold = errors.New("has problems of its own")

// find returns the node to which a JSON pointer leads, and its path. The pointer is already unescaped as a part of a
// URL.
func (n *node) find(pointer string) (*node, *path) {
	var at *path
	if pointer == "" {
		return n, nil
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = unescape.Replace(name)
		var next *node
		switch n.kind {
		case '{':
			next = n.get(name)
		case '[':
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.items) {
				next = n.items[i]
			}
		default: // a scalar has no parts
		}
		if next == nil {
			return nil, nil
		}
		n, at = next, at.to(name)
	}
	return n, at
}

// circles adds a problem for each cycle of references that only lead to each other. A program that follows such
// references would never end.
func (c *checker) circles() {
	const under, over = 1, 2
	state := map[*node]int{}
	for _, start := range c.refs.starts {
		var chain []*node
		n := start
		for state[n] == 0 && c.refs.leads[n].to != nil {
			state[n] = under
			chain = append(chain, n)
			n = c.refs.leads[n].to
		}
		if state[n] == under {
			c.wrong(n, c.refs.leads[n].at, "is a reference that leads back to itself")
		}
		for _, n := range chain {
			state[n] = over
		}
	}
}

// nameOf returns the name that an imported part gets in the specification. It is the last name in the pointer to the
// part. If the pointer is empty, it is the name of the file.
func nameOf(in *source, pointer string) string {
	name := unescape.Replace(pointer[strings.LastIndexByte(pointer, '/')+1:])
	if name == "" && in.url != nil {
		name = in.url.Path[strings.LastIndexByte(in.url.Path, '/')+1:]
		name, _, _ = strings.Cut(name, ".")
	}
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, shorten(name, 100))
	if name == "" {
		name = "part"
	}
	return name
}

// alone returns a path item without the members of its file that do not belong to path items. Tools refuse such
// members.
func (c *checker) alone(item *node) *node {
	known := c.grammar["pathItem"].members
	only := &node{kind: '{', line: item.line, column: item.column}
	for i, name := range item.names {
		if _, ok := known[name]; ok || name == "$ref" || strings.HasPrefix(name, "x-") {
			only.set(name, item.items[i])
		}
	}
	return only
}

// bundle moves the parts of other documents into the specification, and changes all references to the new places.
// Before version 3.1, tools know no other place for path items. So a path item replaces the reference to it.
func (c *checker) bundle() error {
	texts, taken := map[*moved]string{}, map[string]int{}
	for _, m := range c.refs.ordered {
		if m.kind == "pathItem" {
			m.node = c.alone(m.node)
		}
		if m.instead != nil {
			*m.instead = *m.node
			texts[m] = strings.TrimPrefix(m.at.pointer(), "#")
			continue
		}
		home := c.refs.root.root
		pointer := ""
		for _, name := range c.grammar[m.kind].home {
			next := home.get(name)
			if next == nil || next.kind != '{' {
				next = &node{kind: '{'}
				home.set(name, next)
			}
			home, pointer = next, pointer+"/"+escape.Replace(name)
		}
		name, key := m.name, pointer+"/"+m.name
		for home.get(name) != nil {
			taken[key]++ // the next search for a free name for this key begins here
			name = m.name + "_" + strconv.Itoa(taken[key]+1)
		}
		home.set(name, m.node)
		texts[m] = pointer + "/" + escape.Replace(name)
	}
	for _, l := range c.refs.links {
		pointer := l.within
		if l.to != nil {
			pointer = texts[l.to]
		}
		text, err := newText((&url.URL{Fragment: pointer}).String())
		if err != nil {
			return err
		}
		if pointer == "" {
			text, _ = newText("#")
		}
		l.node.raw = text.raw
	}
	return nil
}
