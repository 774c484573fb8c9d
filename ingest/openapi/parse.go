package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// The limits of a document. A few bytes of YAML can become a lot of JSON, so that has its own limit.
const (
	MaxText  = 4 << 20
	maxJSON  = 8 << 20
	maxDepth = 200
)

// Parse reads a document and gives it as JSON, its members in the order in which they were written. An error completes the
// sentence "the text ..." with what is wrong and where; it may be shown to whoever sent the text.
func Parse(text string) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("is larger than %d MiB", MaxText>>20)
	}
	document, err := toJSON([]byte(strings.TrimPrefix(text, "\ufeff")))
	if err != nil {
		return nil, err
	}
	var root any
	if err := json.Unmarshal(document, &root); err != nil {
		return nil, errors.New("cannot be read as JSON")
	}
	return document, check(root)
}

// looksLikeJSON tells JSON from YAML, which also allows braces, but nobody quotes names there.
var looksLikeJSON = regexp.MustCompile(`^\s*\{\s*("|\}|$)`)

func toJSON(text []byte) ([]byte, error) {
	if !looksLikeJSON.Match(text) {
		return yamlToJSON(text)
	}
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	err := value.Compact()
	return value, err
}

var errTooDeep = fmt.Errorf("is nested deeper than %d levels", maxDepth)

// checkJSON finds where text stops being a single JSON value.
func checkJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for values := 0; ; {
		_, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return fmt.Errorf("has a member twice at %s", place(text, d.InputOffset()))
		case err != nil:
			offset := d.InputOffset()
			if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				offset = syntactic.ByteOffset
			}
			return fmt.Errorf("is no valid JSON at %s", place(text, offset))
		case d.StackDepth() > maxDepth:
			return errTooDeep
		case d.StackDepth() == 0:
			if values++; values > 1 {
				return fmt.Errorf("goes on after its end at %s", place(text, d.InputOffset()))
			}
		}
	}
}

// place tells people where in the text an offset is.
func place(text []byte, offset int64) string {
	before := text[:min(max(offset, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("line %d, column %d", line+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

func yamlToJSON(text []byte) ([]byte, error) {
	var root yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	err := documents.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) != 1 {
		return nil, errors.New("is empty")
	}
	if err == nil {
		var rest yaml.Node
		if err = documents.Decode(&rest); err == nil {
			return nil, fmt.Errorf("goes on after its end at %s", at(&rest))
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("is no valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	w := &yamlWriter{}
	w.json = jsontext.NewEncoder(&w.out)
	if err := w.value(root.Content[0], 0); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(w.out.Bytes()), nil
}
