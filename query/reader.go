package query

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// maxDepth is the largest depth to which objects and arrays of a body may nest.
const maxDepth = 16

// reader reads a body that checkJSON has accepted, so reading a token cannot fail. Its errors name the value that was
// read last.
type reader struct {
	*jsontext.Decoder
	body []byte
}

func newReader(body []byte) *reader {
	return &reader{jsontext.NewDecoder(bytes.NewBuffer(body), insights.JSONOptions), body}
}

// checkJSON refuses a body that is not one JSON value, or nests deeper than `depth`.
func checkJSON(body []byte, depth int) error {
	for r := newReader(body); ; {
		_, err := r.ReadToken()
		if err == nil && r.StackDepth() == 0 {
			if _, err = r.ReadToken(); errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				return schema.BadRequest("the body has more than one JSON value")
			}
		}
		if err != nil {
			return notJSON(body, err)
		}
		if r.StackDepth() > depth {
			return schema.BadRequest("the body nests deeper than " + strconv.Itoa(depth) + " levels")
		}
	}
}

// notJSON is the error for a body that is not JSON. It names the place of the first error.
func notJSON(body []byte, err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return schema.BadRequest("the body must be a JSON object")
	case !ok, errors.Is(err, io.ErrUnexpectedEOF):
		return schema.BadRequest("the body ends before the JSON does")
	}
	return schema.BadRequest("the body " + schema.NotJSON(body, syntactic.ByteOffset))
}

// invalid returns an error about the value that was read last.
func (r *reader) invalid(problem string, allowed ...string) error {
	return schema.Invalid(r.path(r.StackPointer()), problem, allowed...)
}

// refuse skips the next value, and returns an error about it.
func (r *reader) refuse(problem string, allowed ...string) error {
	_ = r.SkipValue()
	return r.invalid(problem, allowed...)
}

// path writes a pointer in the form used in errors: where[0].values. A number is an index, because no known member has
// a number as its name.
func (r *reader) path(p jsontext.Pointer) string {
	path := ""
	for token := range p.Tokens() {
		if i, err := strconv.Atoi(token); err == nil {
			path = nth(path, i)
		} else {
			path = at(path, token)
		}
	}
	return path
}

// object reads an object and calls `read` for the value of each member. It skips members that are null, because many
// clients send null for an absent member.
func (r *reader) object(known []string, read func(name string) error) error {
	if r.PeekKind() != jsontext.KindBeginObject {
		return r.refuse("must be an object")
	}
	_, _ = r.ReadToken()
	for r.PeekKind() != jsontext.KindEndObject {
		token, _ := r.ReadToken()
		name := token.String()
		switch {
		case !slices.Contains(known, name):
			return unknownMember(r.path(r.StackPointer().Parent()), name, known)
		case r.PeekKind() == jsontext.KindNull:
			_ = r.SkipValue()
		default:
			if err := read(name); err != nil {
				return err
			}
		}
	}
	_, _ = r.ReadToken()
	return nil
}

// array reads an array and calls `read` for each entry.
func (r *reader) array(most int, read func(i int) error) error {
	if r.PeekKind() != jsontext.KindBeginArray {
		return r.refuse("must be an array")
	}
	_, _ = r.ReadToken()
	n := 0
	for ; r.PeekKind() != jsontext.KindEndArray; n++ {
		if n >= most {
			_ = r.SkipValue()
		} else if err := read(n); err != nil {
			return err
		}
	}
	_, _ = r.ReadToken()
	if n > most {
		return r.invalid(fmt.Sprintf("must have at most %d entries, not %d", most, n))
	}
	return nil
}

func (r *reader) text() (string, error) {
	if r.PeekKind() != jsontext.KindString {
		return "", r.refuse("must be a string")
	}
	token, _ := r.ReadToken()
	return token.String(), nil
}

// value reads any value. The result aliases the body.
func (r *reader) value() jsontext.Value {
	v, _ := r.ReadValue()
	end := int(r.InputOffset())
	return r.body[end-len(v) : end]
}
