package openapi

import (
	"bytes"
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// yamlWriter writes a YAML tree as JSON. An alias is written out each time, which is how a few bytes become many: the
// writer stops at the bounds and not when memory ends.
type yamlWriter struct {
	out   bytes.Buffer
	json  *jsontext.Encoder
	steps int
}

func at(node *yaml.Node) string { return fmt.Sprintf("line %d, column %d", node.Line, node.Column) }

// step is taken wherever aliases can lead: also those that write nothing take time.
func (w *yamlWriter) step(depth int) error {
	w.steps++
	switch {
	case depth > maxDepth:
		return errTooDeep
	case w.json.OutputOffset() > maxJSON || w.steps > maxJSON/2:
		return fmt.Errorf("is larger than %d MiB when its aliases are written out", maxJSON>>20)
	}
	return nil
}

func (w *yamlWriter) value(node *yaml.Node, depth int) error {
	if err := w.step(depth); err != nil {
		return err
	}
	switch node.Kind {
	case yaml.AliasNode:
		return w.value(node.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(node, depth)
	case yaml.SequenceNode:
		return w.sequence(node, depth)
	case yaml.ScalarNode:
		return w.scalar(node)
	default:
		return fmt.Errorf("has something that JSON has not at %s", at(node))
	}
}

func (w *yamlWriter) sequence(node *yaml.Node, depth int) error {
	if err := w.json.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, item := range node.Content {
		if err := w.value(item, depth+1); err != nil {
			return err
		}
	}
	return w.json.WriteToken(jsontext.EndArray)
}

func (w *yamlWriter) mapping(node *yaml.Node, depth int) error {
	if err := w.json.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if seen[key.Value] {
			return fmt.Errorf("has a member twice at %s", at(key))
		}
		if err := w.member(key, value, seen, depth); err != nil {
			return err
		}
	}
	for _, source := range merged {
		if err := w.merge(source, seen, depth); err != nil {
			return err
		}
	}
	return w.json.WriteToken(jsontext.EndObject)
}

func (w *yamlWriter) member(key, value *yaml.Node, seen map[string]bool, depth int) error {
	for key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return fmt.Errorf("has a member whose name is no text at %s", at(key))
	}
	if seen[key.Value] {
		return w.step(depth)
	}
	seen[key.Value] = true
	// YAML takes names such as 200 for numbers; in OpenAPI they are text.
	if err := w.text(key); err != nil {
		return err
	}
	return w.value(value, depth+1)
}

// merge writes the members of `<<` that the mapping itself lacks; the first source that has a member wins.
func (w *yamlWriter) merge(source *yaml.Node, seen map[string]bool, depth int) error {
	// The depth limit also stops a source that merges itself.
	if err := w.step(depth); err != nil {
		return err
	}
	switch source.Kind {
	case yaml.AliasNode:
		return w.merge(source.Alias, seen, depth+1)
	case yaml.SequenceNode:
		for _, item := range source.Content {
			if err := w.merge(item, seen, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		var inner []*yaml.Node
		for i := 0; i+1 < len(source.Content); i += 2 {
			if source.Content[i].ShortTag() == "!!merge" {
				inner = append(inner, source.Content[i+1])
			} else if err := w.member(source.Content[i], source.Content[i+1], seen, depth); err != nil {
				return err
			}
		}
		for _, item := range inner {
			if err := w.merge(item, seen, depth+1); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("merges what is no mapping at %s", at(source))
	}
}

// scalar writes what YAML takes for a number, a boolean or null as such, and all else, also what it takes for a date, as the
// text that was written.
func (w *yamlWriter) scalar(node *yaml.Node) error {
	switch node.ShortTag() {
	case "!!null":
		return w.json.WriteToken(jsontext.Null)
	case "!!bool":
		var value bool
		if err := node.Decode(&value); err != nil {
			return w.text(node)
		}
		return w.json.WriteToken(jsontext.Bool(value))
	case "!!int", "!!float":
		return w.number(node)
	}
	return w.text(node)
}

func (w *yamlWriter) number(node *yaml.Node) error {
	// A number that JSON writes alike keeps its digits: 1.10 stays 1.10.
	if raw := jsontext.Value(node.Value); raw.IsValid() && raw.Kind() == '0' {
		return w.json.WriteValue(raw)
	}
	var whole int64
	if err := node.Decode(&whole); err == nil && node.ShortTag() == "!!int" {
		return w.json.WriteToken(jsontext.Int(whole))
	}
	var value float64
	if err := node.Decode(&value); err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return w.text(node)
	}
	return w.json.WriteToken(jsontext.Float(value))
}

func (w *yamlWriter) text(node *yaml.Node) error {
	if err := w.json.WriteToken(jsontext.String(node.Value)); err != nil {
		return fmt.Errorf("has text that is not valid at %s", at(node))
	}
	return nil
}
