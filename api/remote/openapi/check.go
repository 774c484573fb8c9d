package openapi

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// checker checks a document against the grammar of its version. Its time is proportional to the size of the document
// and of the documents to which it refers. If a part is used as several kinds of objects, it is checked once for each
// kind.
type checker struct {
	grammar  grammar
	problems Problems
	refs     references
	seen     map[visit]bool
	queue    []queued
	// retryable is true if a document that could not be read may be readable later.
	retryable bool
}

type visit struct {
	node *node
	kind string
}

// queued is a part to which a reference leads, and which is not checked yet.
type queued struct {
	visit
	at place
}

// place is the position of a value: the document that contains it, and its path in the document.
type place struct {
	in   *source
	path *path
}

func (p place) to(name string) place { return place{p.in, p.path.to(name)} }

// full reports whether there are so many problems that the check stops.
func (c *checker) full() bool { return len(c.problems) >= mostProblems }

func (c *checker) add(n *node, at place, code, format string, args ...any) {
	if c.full() {
		return
	}
	p := &Problem{Pointer: at.path.pointer(), Text: fmt.Sprintf(format, args...), Code: code}
	if n != nil {
		p.Line, p.Column = int(n.line), int(n.column)
	}
	if at.in != nil {
		p.Document = at.in.name
	}
	c.problems = append(c.problems, p)
}

func (c *checker) wrong(n *node, at place, format string, args ...any) {
	c.add(n, at, schema.SpecParseError, format, args...)
}

// document checks everything to which the root leads.
func (c *checker) document(root *node, in *source) {
	at := place{in: in}
	if root.kind != '{' {
		c.wrong(root, at, "must be an object, as OpenAPI documents are, and is %s", root.what())
		return
	}
	if c.grammar = grammarOf(root); c.grammar == nil {
		c.wrong(root, at, `must say openapi: "3.x.y" or swagger: "2.0"`)
		return
	}
	c.seen = map[visit]bool{}
	c.object("document", root, at)
	if root.get("paths") == nil && root.get("webhooks") == nil && root.get("components") == nil && len(c.problems) == 0 {
		c.wrong(root, at, "paths is missing")
	}
	for len(c.queue) > 0 && !c.full() {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.object(next.kind, next.node, next.at)
	}
}

// object checks a value as an object of this kind.
func (c *checker) object(kind string, n *node, at place) {
	o := c.grammar[kind]
	if c.full() || o.boolean && (n.kind == 't' || n.kind == 'f') {
		return
	}
	if n.kind != '{' {
		c.wrong(n, at, "must be an object, and is %s", n.what())
		return
	}
	if o.reference {
		if c.seen[visit{n, kind}] {
			return
		}
		c.seen[visit{n, kind}] = true
		if target := n.get("$ref"); target != nil && target.kind == '"' {
			c.follow(kind, n, target, at)
			if !o.siblings {
				return
			}
		}
	}
	referring := n.get("$ref") != nil
	for _, name := range o.required {
		if value := n.get(name); (value == nil || value.kind == 'n') && !referring {
			c.wrong(n, at, "%s is missing", name)
		}
	}
	for i, name := range n.names {
		if of, ok := o.members[name]; ok {
			c.shape(of, n.items[i], at.to(name))
		} else if o.others != nil && !(o.open && strings.HasPrefix(name, "x-")) && !(name == "$ref" && o.reference) {
			c.shape(*o.others, n.items[i], at.to(name))
		}
	}
	c.special(kind, n, at)
}

// nameRules has, for kinds of objects with free names, the rule for these names.
var nameRules = map[string]struct {
	match   *regexp.Regexp
	problem string
}{
	"paths":     {regexp.MustCompile(`^/`), "is no path, which starts with a slash"},
	"responses": {regexp.MustCompile(`^([1-5](\d\d|XX)|default)$`), "is neither a status such as 200, nor 2XX, nor default"},
}

// special checks rules that the grammar cannot express.
func (c *checker) special(kind string, n *node, at place) {
	if rule, ok := nameRules[kind]; ok {
		for i, name := range n.names {
			if !rule.match.MatchString(name) && !strings.HasPrefix(name, "x-") {
				c.wrong(n.items[i], at.to(name), "%q %s", shorten(name, 100), rule.problem)
			}
		}
	}
	switch kind {
	case "parameter":
		body := n.get("in").str() == "body"
		if body && n.get("schema") == nil || !body && n.get("schema") == nil && n.get("content") == nil && n.get("type") == nil {
			c.wrong(n, at, "says nothing about its value: %s is missing", map[bool]string{true: "schema", false: "schema, content or type"}[body])
		}
	case "mapping":
		// A value may be the name of a schema instead of an address.
		for _, value := range n.items {
			if c.full() { // each value may refer to another document, which would be fetched
				return
			}
			if text := value.str(); strings.ContainsAny(text, "/#") || strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".json") {
				c.follow("schema", nil, value, at)
			}
		}
	}
}

func (c *checker) shape(s shape, n *node, at place) {
	// In YAML, a member without a value is null. But authors mean that the member is absent.
	if c.full() || n.kind == 'n' {
		return
	}
	switch {
	case s.either != nil:
		for _, alternative := range s.either {
			if alternative.takes(n.kind) {
				c.shape(alternative, n, at)
				return
			}
		}
		c.wrong(n, at, "must be %s, and is %s", s.what(), n.what())
	case s.kind != "":
		c.object(s.kind, n, at)
	case !s.takes(n.kind):
		c.wrong(n, at, "must be %s, and is %s%s", s.what(), n.what(), hint(s, n))
	case s.values != nil:
		text := n.str()
		for _, value := range s.values {
			if text == value {
				return
			}
		}
		c.wrong(n, at, "must be one of %s", strings.Join(s.values, ", "))
	case s.array != nil:
		for i, item := range n.items {
			if c.full() {
				return
			}
			c.shape(*s.array, item, place{at.in, at.path.item(i)})
		}
	case s.object != nil:
		for i, name := range n.names {
			if c.full() {
				return
			}
			if !s.names || !strings.HasPrefix(name, "x-") {
				c.shape(*s.object, n.items[i], at.to(name))
			}
		}
	}
}

// takes reports whether a value of this JSON kind fits the shape.
func (s shape) takes(kind jsontext.Kind) bool {
	switch {
	case s.scalar == scalarAny:
		return true
	case s.scalar == scalarString, s.values != nil:
		return kind == '"'
	case s.scalar == scalarBool:
		return kind == 't' || kind == 'f'
	case s.scalar == scalarNumber:
		return kind == '0'
	case s.array != nil:
		return kind == '['
	default:
		return kind == '{'
	}
}

func (s shape) what() string {
	switch {
	case s.either != nil:
		var all []string
		for _, alternative := range s.either {
			all = append(all, alternative.what())
		}
		return strings.Join(all, " or ")
	case s.scalar == scalarString, s.values != nil:
		return "a string"
	case s.scalar == scalarBool:
		return "a boolean"
	case s.scalar == scalarNumber:
		return "a number"
	case s.array != nil:
		return "an array"
	default:
		return "an object"
	}
}

// hint returns an explanation of a common mistake: a number without quotes instead of a text.
func hint(s shape, n *node) string {
	if s.scalar == scalarString && n.kind == '0' {
		return ": YAML wants quotes around what looks like a number"
	}
	return ""
}
