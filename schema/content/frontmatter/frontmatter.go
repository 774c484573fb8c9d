// Package frontmatter reads the fields at the start of a Markdown file, in YAML or TOML, and changes them in place.
package frontmatter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fields is the YAML between lines of three hyphens at the start of a file, or the TOML between lines of three plus
// signs. Fields has the source text of the front matter, so unchanged fields keep their bytes.
type Fields struct {
	source string // front matter with its fences, or "" if there is no front matter
	fields map[string]any
	spans  map[string]lineSpan
	order  []string
	toml   bool
	// `emptied` is true if a change removed the last field. Join then leaves out the front matter, unless other text
	// remains in it, such as a comment.
	emptied bool
}

// lineSpan is the range of a field's lines in the source.
type lineSpan struct{ from, to int }

// maxBytes bounds the size of front matter. Longer front matter is read as a part of the page's text.
const maxBytes = 64 << 10

// ErrNotMap means that the front matter is not a map of YAML. The front matter is then read as a part of the page's
// text.
var ErrNotMap = errors.New("the front matter is not a map of YAML")

// Split separates the front matter of a file from its Markdown. If the file has no front matter, or if Split returns an
// error, `body` is the whole file.
func Split(file string) (front Fields, body string, err error) {
	first, rest, _ := strings.Cut(file, "\n")
	fence := strings.TrimSuffix(first, "\r")
	if fence != yamlFence && fence != tomlFence || len(first) == len(file) {
		return Fields{}, file, nil
	}
	start := len(file) - len(rest)
	for at := start; at < len(file) && at < maxBytes; {
		end := at + strings.IndexByte(file[at:], '\n') + 1
		if end == at {
			end = len(file)
		}
		if line := strings.TrimRight(file[at:end], " \t\r\n"); line == fence || fence == yamlFence && line == "..." {
			front := Fields{source: file[:end], toml: fence == tomlFence}
			parse := front.parse
			if front.toml {
				parse = front.parseTOML
			}
			if err := parse(file[start:at]); err != nil {
				return Fields{}, file, err
			}
			return front, file[end:], nil
		}
		at = end
	}
	return Fields{}, file, nil
}

func (f *Fields) parse(text string) error {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return fmt.Errorf("%w: %w", ErrNotMap, err)
	}
	f.fields, f.spans = map[string]any{}, map[string]lineSpan{}
	if len(root.Content) == 0 {
		return nil
	}
	mapping := root.Content[0]
	if mapping.Kind != yaml.MappingNode || mapping.Style == yaml.FlowStyle {
		return ErrNotMap
	}
	if err := mapping.Decode(&f.fields); err != nil {
		return fmt.Errorf("%w: %w", ErrNotMap, err)
	}
	lines := strings.Count(text, "\n") + 1
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yaml.ScalarNode {
			return ErrNotMap
		}
		span := lineSpan{from: key.Line, to: lines}
		if i+2 < len(mapping.Content) {
			span.to = mapping.Content[i+2].Line
		}
		f.spans[key.Value] = span
		f.order = append(f.order, key.Value)
	}
	return nil
}

// The fences are the lines before and after front matter.
const (
	yamlFence = "---"
	tomlFence = "+++"
)

var (
	tomlField = regexp.MustCompile(`^\s*([A-Za-z0-9_-]+)\s*=\s*(.*)$`)
	tomlValue = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'[^']*'|true|false)\s*(?:#.*)?$`)
)

// parseTOML reads the top-level fields of TOML whose values are strings or booleans. It skips all other fields and all
// tables.
func (f *Fields) parseTOML(text string) error {
	f.fields, f.spans = map[string]any{}, map[string]lineSpan{}
	long := "" // the text that ends a multi-line value
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if long != "" {
			if strings.Contains(line, long) {
				long = ""
			}
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "[") && !strings.Contains(line, "=") {
			return nil
		}
		match := tomlField.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		name, value := match[1], match[2]
		f.order, f.spans[name] = append(f.order, name), lineSpan{i + 1, i + 2}
		for _, quotes := range []string{`"""`, "'''"} {
			if strings.HasPrefix(value, quotes) && strings.Count(value, quotes) == 1 {
				long = quotes
			}
		}
		if read := tomlValue.FindStringSubmatch(value); read != nil && long == "" {
			f.fields[name] = tomlText(read[1])
		}
	}
	return nil
}

func tomlText(value string) any {
	switch {
	case value == "true", value == "false":
		return value == "true"
	case value[0] == '\'':
		return value[1 : len(value)-1]
	}
	text, err := strconv.Unquote(value)
	if err != nil {
		return value[1 : len(value)-1]
	}
	return text
}

// tomlLine returns a field as a line of TOML.
func tomlLine(name string, value any) string {
	text, ok := value.(string)
	if !ok {
		return fmt.Sprintf("%s = %v\n", name, value)
	}
	return name + ` = "` + tomlEscapes.Replace(text) + "\"\n"
}

var tomlEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

// Names returns the names of the fields, in the order of the file.
func (f *Fields) Names() []string { return slices.Clone(f.order) }

// Text returns the value of a field that is a string.
func (f *Fields) Text(name string) (string, bool) {
	text, ok := f.fields[name].(string)
	return text, ok
}

// Value returns a field's value as YAML decodes it.
func (f *Fields) Value(name string) any { return f.fields[name] }

// Flag returns the value of a boolean field. `ok` is false if the field is missing or not a boolean.
func (f *Fields) Flag(name string) (value, ok bool) {
	value, ok = f.fields[name].(bool)
	return value, ok
}

// Set changes a field, or removes it if the value is nil. If the value is equal, Set changes nothing. The lines of
// other fields stay unchanged. A new field is added at the end of YAML, and at the start of TOML.
func (f *Fields) Set(name string, value any) error {
	if old, given := f.fields[name]; given && sameYAML(old, value) || !given && value == nil {
		return nil
	}
	text := ""
	if value != nil && f.toml {
		text = tomlLine(name, value)
	} else if value != nil {
		if line, ok := value.(string); ok && strings.ContainsAny(line, "\t\n") {
			// If a block of text begins with a tab, the YAML library writes a form that it cannot read back. So a text
			// with tabs or line breaks is written in quotes.
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: line}
		}
		encoded, err := yaml.Marshal(map[string]any{name: value})
		if err != nil {
			return err
		}
		text = string(encoded)
	}
	if f.source == "" {
		f.source = yamlFence + "\n" + yamlFence + "\n"
	}
	lines := strings.SplitAfter(f.source, "\n")
	span, given := f.spans[name]
	if !given {
		span = lineSpan{from: len(lines) - 2, to: len(lines) - 2}
		if !strings.HasSuffix(f.source, "\n") {
			span = lineSpan{from: len(lines) - 1, to: len(lines) - 1}
		}
		if f.toml {
			span = lineSpan{from: 1, to: 1} // a new field of TOML comes before all tables
		}
	}
	// Comments and blank lines directly before the next field belong to that field.
	for given && span.to > span.from+1 &&
		(strings.HasPrefix(lines[span.to-1], "#") || strings.TrimSpace(lines[span.to-1]) == "") {
		span.to--
	}
	f.source = strings.Join(lines[:span.from], "") + text + strings.Join(lines[span.to:], "")
	again, _, err := Split(f.source)
	if err != nil {
		return err
	}
	*f = again
	f.emptied = value == nil && len(f.order) == 0
	return nil
}

func sameYAML(a, b any) bool {
	x, errX := yaml.Marshal(a)
	y, errY := yaml.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Join puts front matter before Markdown. If a change removed the last field, Join writes no front matter.
func (f *Fields) Join(body string) string {
	if f.emptied && strings.TrimSpace(strings.ReplaceAll(f.source, "-", "")) == "" {
		return body
	}
	return f.source + body
}
