package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/octavo-docs/octavo/schema"
)

// yamlReader makes a tree of nodes from a YAML text, in the form of JSON. Each alias is replaced by the content that it
// names, so a few bytes can become many. The reader stops at its limits, before the memory is full.
type yamlReader struct {
	values, bytes int
}

// readYAML reads a text that consists of one YAML document.
func readYAML(text []byte) (*node, error) {
	// The parser has no limit on the number of values. Nearly every value follows one of these characters. So a limit
	// on these characters is a limit on values. Texts contain these characters too, so the limit is higher than for
	// values.
	if bytes.Count(text, []byte(","))+bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 2*maxValues {
		return nil, errManyValues
	}
	var root yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	err := documents.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) != 1 {
		return nil, &Problem{Text: "is empty", Code: schema.SpecParseError}
	}
	if err == nil {
		var rest yaml.Node
		if err = documents.Decode(&rest); err == nil {
			return nil, yamlProblem(&rest, "goes on after its end")
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, explainYAML(err)
	}
	return (&yamlReader{}).value(root.Content[0], 0)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// explainYAML reads the line from a message of the parser.
func explainYAML(err error) error {
	problem := &Problem{Text: "is no valid YAML", Code: schema.SpecParseError}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		problem.Line, _ = strconv.Atoi(found[1]) // if the message has no line, the line is 0
		problem.Text += ": " + found[2]
	}
	return problem
}

func yamlProblem(n *yaml.Node, text string) error {
	return &Problem{Line: n.Line, Column: n.Column, Text: text, Code: schema.SpecParseError}
}

// step adds a node to the numbers of values and bytes, and checks their limits. It is called for every node that
// aliases lead to, because nodes without output take time too.
func (r *yamlReader) step(n *yaml.Node, depth int) error {
	r.values++
	r.bytes += len(n.Value) + 1
	switch {
	case depth > maxDepth:
		return yamlProblem(n, errTooDeep.Error())
	case r.values > maxValues || r.bytes > maxJSON:
		return yamlProblem(n, fmt.Sprintf("is larger than %d values or %d MiB when its aliases are written out", maxValues, maxJSON>>20))
	}
	return nil
}

func (r *yamlReader) value(from *yaml.Node, depth int) (*node, error) {
	if err := r.step(from, depth); err != nil {
		return nil, err
	}
	n := &node{line: int32(from.Line), column: int32(from.Column)} // the numbers fit into 32 bits
	switch from.Kind {
	case yaml.AliasNode:
		return r.value(from.Alias, depth+1)
	case yaml.MappingNode:
		n.kind = '{'
		return n, r.mapping(n, from, depth)
	case yaml.SequenceNode:
		n.kind = '['
		for _, item := range from.Content {
			value, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, value)
		}
		return n, nil
	case yaml.ScalarNode:
		return n, scalar(n, from)
	default:
		return nil, yamlProblem(from, "has something that JSON has not")
	}
}

func (r *yamlReader) mapping(to *node, from *yaml.Node, depth int) error {
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if seen[key.Value] {
			return yamlProblem(from.Content[i], "has a member twice")
		}
		if err := r.member(to, key, value, seen, depth); err != nil {
			return err
		}
	}
	for _, source := range merged {
		if err := r.merge(to, source, seen, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *yamlReader) member(to *node, key, value *yaml.Node, seen map[string]bool, depth int) error {
	for key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return yamlProblem(key, "has a member whose name is no text")
	}
	if seen[key.Value] {
		return r.step(key, depth)
	}
	seen[key.Value] = true
	if _, err := newText(key.Value); err != nil {
		return yamlProblem(key, "has text that is not valid")
	}
	item, err := r.value(value, depth+1)
	// YAML reads a name such as `200` as a number, and the name `on` as a boolean. In OpenAPI, these names are texts.
	to.names, to.items = append(to.names, key.Value), append(to.items, item)
	return err
}

// merge adds the members of `<<` that the mapping does not have. If several sources have the same member, the first
// source applies.
func (r *yamlReader) merge(to *node, source *yaml.Node, seen map[string]bool, depth int) error {
	// The depth limit also stops a source that contains itself.
	if err := r.step(source, depth); err != nil {
		return err
	}
	switch source.Kind {
	case yaml.AliasNode:
		return r.merge(to, source.Alias, seen, depth+1)
	case yaml.SequenceNode:
		for _, item := range source.Content {
			if err := r.merge(to, item, seen, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		var inner []*yaml.Node
		for i := 0; i+1 < len(source.Content); i += 2 {
			if source.Content[i].ShortTag() == "!!merge" {
				inner = append(inner, source.Content[i+1])
			} else if err := r.member(to, source.Content[i], source.Content[i+1], seen, depth); err != nil {
				return err
			}
		}
		for _, item := range inner {
			if err := r.merge(to, item, seen, depth+1); err != nil {
				return err
			}
		}
		return nil
	default:
		return yamlProblem(source, "merges what is no mapping")
	}
}

// scalar reads numbers, booleans and null as the core schema of YAML 1.2 defines them. All other scalars are texts.
// Dates are texts too, and so are values that only YAML 1.1 reads as booleans (yes, on) or numbers (1_000, 0b1, 1:30).
func scalar(to *node, from *yaml.Node) error {
	plain := from.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if tagged := from.Style&yaml.TaggedStyle != 0; tagged && from.ShortTag() == "!!str" {
		plain = false
	}
	if plain {
		switch from.Value {
		case "", "~", "null", "Null", "NULL":
			to.kind, to.raw = 'n', jsontext.Value("null")
			return nil
		case "true", "True", "TRUE":
			to.kind, to.raw = 't', jsontext.Value("true")
			return nil
		case "false", "False", "FALSE":
			to.kind, to.raw = 'f', jsontext.Value("false")
			return nil
		}
		if digits, ok := number(from.Value); ok {
			to.kind, to.raw = '0', jsontext.Value(digits)
			return nil
		}
	}
	raw, err := jsontext.AppendQuote(nil, from.Value)
	if err != nil {
		return yamlProblem(from, "has text that is not valid")
	}
	to.kind, to.raw = '"', raw
	return nil
}

var (
	decimal   = regexp.MustCompile(`^([-+]?)0*(\d+)$`)
	decimals  = regexp.MustCompile(`^([-+]?)0*(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$`)
	otherBase = regexp.MustCompile(`^0(?:o[0-7]+|x[0-9a-fA-F]+)$`)
)

// number returns a number of YAML 1.2 as a JSON number. The digits stay the same: 1.10 stays 1.10. The number 010 is
// ten.
func number(text string) (string, bool) {
	if otherBase.MatchString(text) {
		value, err := strconv.ParseUint(text, 0, 64)
		return strconv.FormatUint(value, 10), err == nil
	}
	if found := decimal.FindStringSubmatch(text); found != nil {
		return strings.TrimPrefix(found[1], "+") + found[2], true
	}
	found := decimals.FindStringSubmatch(text)
	if found == nil || found[2]+found[3] == "" {
		return "", false
	}
	whole, fraction := found[2], found[3]
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return strings.TrimPrefix(found[1], "+") + whole + fraction + found[4], true
}
