package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a value of a document. It is an object or an array with its parts, or a scalar as JSON text. The members of
// an object keep their order. `line` and `column` are the position of the value in the text.
type node struct {
	kind         jsontext.Kind
	line, column int32
	raw          jsontext.Value
	names        []string
	items        []*node
	index        map[string]int
}

// manyMembers is the largest number of members that an object may have without an index.
const manyMembers = 8

// get returns a member of an object. It returns nil if the node is not an object or has no such member.
func (n *node) get(name string) *node {
	if i := n.member(name); i >= 0 {
		return n.items[i]
	}
	return nil
}

// member returns the index of a member of an object. It returns -1 if the node is not an object or has no such member.
func (n *node) member(name string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	if len(n.names) <= manyMembers {
		return slices.Index(n.names, name)
	}
	if n.index == nil {
		n.index = make(map[string]int, len(n.names))
		for i, known := range n.names {
			n.index[known] = i
		}
	}
	if i, ok := n.index[name]; ok {
		return i
	}
	return -1
}

// set adds a member to an object, or replaces the member.
func (n *node) set(name string, value *node) {
	if i := n.member(name); i >= 0 {
		n.items[i] = value
		return
	}
	n.names, n.items = append(n.names, name), append(n.items, value)
	if n.index != nil {
		n.index[name] = len(n.names) - 1
	}
}

// text returns the value of a string. `ok` is false if the node is not a string.
func (n *node) text() (text string, ok bool) {
	if n == nil || n.kind != '"' {
		return "", false
	}
	plain, err := jsontext.AppendUnquote(nil, n.raw)
	return string(plain), err == nil
}

// str returns the value of a string. It returns "" if the node is not a string.
func (n *node) str() string {
	text, _ := n.text()
	return text
}

// what returns the name of a value's kind for error messages.
func (n *node) what() string {
	if n == nil {
		return "nothing"
	}
	switch n.kind {
	case 'n':
		return "nothing"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case '[':
		return "an array"
	default:
		return "an object"
	}
}

// newText returns a node for a string that the document's text does not contain.
func newText(text string) (*node, error) {
	raw, err := jsontext.AppendQuote(nil, text)
	return &node{kind: '"', raw: raw}, err
}

// appendTo appends a value as compact JSON. It returns an error if the JSON exceeds the size limit of documents.
func (n *node) appendTo(out []byte) ([]byte, error) {
	if len(out) > maxJSON {
		return nil, errLargeJSON
	}
	var err error
	switch n.kind {
	case '{':
		out = append(out, '{')
		for i, name := range n.names {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = jsontext.AppendQuote(out, name); err != nil {
				return nil, err
			}
			if out, err = n.items[i].appendTo(append(out, ':')); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case '[':
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = item.appendTo(out); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	default:
		return append(out, n.raw...), nil
	}
}

var (
	errLargeJSON = fmt.Errorf("is larger than %d MiB as JSON", maxJSON>>20)
	escape       = strings.NewReplacer("~", "~0", "/", "~1")
	unescape     = strings.NewReplacer("~1", "/", "~0", "~")
)

// path is the position of a value in its document. It is a JSON pointer. It shares its beginning with the paths of the
// enclosing values.
type path struct {
	parent *path
	name   string
}

func (p *path) to(name string) *path { return &path{p, name} }
func (p *path) item(i int) *path     { return &path{p, strconv.Itoa(i)} }

// pointer returns a path in the form of a URL's fragment, with readable characters.
func (p *path) pointer() string {
	if p == nil {
		return "#"
	}
	var names []string
	for at := p; at != nil; at = at.parent {
		names = append(names, at.name)
	}
	var b strings.Builder
	b.WriteByte('#')
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(escape.Replace(names[i]))
	}
	return b.String()
}
