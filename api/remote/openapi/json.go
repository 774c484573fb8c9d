package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// jsonReader makes a tree of nodes from a JSON text.
type jsonReader struct {
	text    []byte
	decoder *jsontext.Decoder
	values  int
	// These fields have the position of the last value. The position of the next value is computed from them.
	line, start, seen int
}

// readJSON reads a text that consists of one JSON value.
func readJSON(text []byte) (*node, error) {
	r := &jsonReader{text: text, decoder: jsontext.NewDecoder(bytes.NewBuffer(text)), line: 1}
	root, err := r.value(0)
	if err != nil {
		return nil, r.explain(err)
	}
	switch _, err := r.decoder.ReadToken(); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return nil, r.explain(err)
	}
	return nil, r.problem(r.decoder.InputOffset(), "goes on after its end")
}

func (r *jsonReader) problem(offset int64, text string) error {
	line, column := schema.LineAndColumn(r.text, offset)
	return &Problem{Line: line, Column: column, Text: text, Code: schema.SpecParseError}
}

func (r *jsonReader) explain(err error) error {
	if _, ok := errors.AsType[*Problem](err); ok {
		return err
	}
	offset := r.decoder.InputOffset()
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return r.problem(r.next(), "has a member twice")
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = syntactic.ByteOffset
	}
	return r.problem(offset, "is not valid JSON")
}

// next returns the offset at which the next token starts.
func (r *jsonReader) next() int64 {
	offset := r.decoder.InputOffset()
	for offset < int64(len(r.text)) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[offset]) >= 0 {
		offset++
	}
	return offset
}

// place moves to an offset, and returns the line and the column at this offset.
func (r *jsonReader) place(offset int) (line, column int32) {
	between := r.text[r.seen:offset]
	if n := bytes.Count(between, []byte("\n")); n > 0 {
		r.line, r.start = r.line+n, r.seen+bytes.LastIndexByte(between, '\n')+1
	}
	r.seen = offset
	return int32(r.line), int32(offset - r.start + 1) // the numbers fit, because a text has at most a few MiB
}

func (r *jsonReader) value(depth int) (*node, error) {
	if r.values++; r.values > maxValues {
		return nil, errManyValues
	}
	kind, start := r.decoder.PeekKind(), r.next()
	n := &node{kind: kind}
	n.line, n.column = r.place(int(start))
	if depth > maxDepth {
		return nil, &Problem{Line: int(n.line), Column: int(n.column), Text: errTooDeep.Error(), Code: schema.SpecParseError}
	}
	if kind != '{' && kind != '[' {
		if _, err := r.decoder.ReadValue(); err != nil {
			return nil, err
		}
		n.raw = r.text[start:r.decoder.InputOffset()]
		return n, nil
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, err
	}
	for end := kind + 2; r.decoder.PeekKind() != end; { // in ASCII, brackets close two after they open
		if kind == '{' {
			name, err := r.decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := r.decoder.ReadToken()
	return n, err
}

var errManyValues = fmt.Errorf("has more than %d values", maxValues)
