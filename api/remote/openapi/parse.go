package openapi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// These are the limits of a document. The JSON has a separate limit, because a few bytes of YAML can become very long
// JSON.
const (
	MaxText   = 4 << 20
	maxJSON   = 8 << 20
	maxValues = 500_000
	maxDepth  = 200
)

// Parse reads a document and returns it as JSON. The members keep their order. The error is Problems.
func Parse(text string) ([]byte, error) {
	root, err := parseText([]byte(text))
	if err != nil {
		return nil, asProblems(err)
	}
	return finish(&source{root: root}, nil)
}

// finish checks a specification, and imports the parts of other documents to which it refers.
func finish(root *source, read load) ([]byte, error) {
	c := &checker{refs: references{
		root: root, load: read, sources: map[string]*source{}, moved: map[movedKey]*moved{}, leads: map[*node]leads{},
	}}
	c.document(root.root, root)
	if len(c.problems) == 0 {
		c.circles()
	}
	if len(c.problems) > 0 {
		c.problems[0].Retryable = c.retryable
		return nil, c.problems
	}
	if err := c.bundle(); err != nil {
		return nil, asProblems(err)
	}
	document, err := root.root.appendTo(nil)
	if err == nil && len(document) > maxJSON {
		err = errLargeJSON
	}
	if err != nil {
		return nil, asProblems(err)
	}
	return document, nil
}

// asProblems converts an error of this package to Problems.
func asProblems(err error) Problems {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return Problems{problem}
	}
	return Problems{{Text: err.Error(), Code: schema.SpecParseError}}
}

// looksLikeJSON matches texts that are JSON and not YAML. YAML also allows braces, but in YAML nobody writes names in
// quotes.
var (
	looksLikeJSON = regexp.MustCompile(`^\s*\{\s*("|\}|$)`)
	looksLikeHTML = regexp.MustCompile(`^\s*<(?i:!doctype|html|head|body|\?xml)`)
)

var errTooDeep = fmt.Errorf("is nested deeper than %d levels", maxDepth)

// parseText reads the tree of a JSON or YAML text.
func parseText(text []byte) (*node, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("is larger than %d MiB", MaxText>>20)
	}
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	switch {
	case looksLikeHTML.Match(text):
		return nil, errors.New("is a web page or XML, and no JSON or YAML")
	case looksLikeJSON.Match(text):
		return readJSON(text)
	default:
		return readYAML(text)
	}
}
