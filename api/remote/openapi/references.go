package openapi

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// source is a document that parts come from. The specification itself has no name.
type source struct {
	name string
	// url is the address of the source. It is nil for a text that was sent.
	url  *url.URL
	root *node
	// failed is the reason why the source could not be read.
	failed error
}

// load reads another document by its address without a fragment. It is nil for a specification that was sent as text.
type load func(target *url.URL) (*source, error)

// references are the references of one specification: their targets, and the parts that must move into the
// specification.
type references struct {
	root *source
	load load
	// sources has the other documents by address.
	sources map[string]*source
	// links are the new forms of the references.
	links []link
	// moved has the parts of other documents to which the specification refers. ordered has these parts in the order of
	// their discovery.
	moved   map[movedKey]*moved
	ordered []*moved
	// leads has the targets of objects with a reference. starts has these objects in the order of their discovery.
	leads  map[*node]leads
	starts []*node
}

type leads struct {
	to *node
	at place
}

type link struct {
	node   *node
	to     *moved // to is nil for a part of the specification itself.
	within string // within is a JSON pointer inside the target.
}

type movedKey struct {
	node *node
	kind string
}

type moved struct {
	node *node
	kind string
	name string // name is the part's name in its document, if this name is free.
	// instead is an object of the specification that is only a reference to this part. at is the object's path.
	instead *node
	at      *path
}

// follow finds the target of a reference, and queues its check as an object of a kind. n is the object with the
// reference, or nil if the reference is a plain text.
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
		// The reference is an anchor, which JSON Schema allows anywhere in the document.
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

// sourceOf is the document that a reference names.
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

// find follows a JSON pointer that has been unescaped as a part of a URL.
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
		default: // A scalar has no parts.
		}
		if next == nil {
			return nil, nil
		}
		n, at = next, at.to(name)
	}
	return n, at
}

// circles finds references that only lead to references in a cycle, which a reader would follow endlessly.
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

// nameOf returns the name of an imported part in the specification. It is the last name in the pointer to the part, or
// otherwise the name of the file.
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

// alone returns a path item without the other members of its file, because tools refuse unknown members.
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

// bundle moves the parts of other documents into the specification, and changes all references to the new places. A
// path item replaces the reference to it, because before 3.1 tools have no other place for path items.
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
			taken[key]++ // The next search for a free name of this key continues from here.
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
