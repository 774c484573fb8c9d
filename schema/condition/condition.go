// Package condition parses and evaluates the conditions that decide which visitors see a section or a space of a site. A
// condition is one JavaScript expression over the visitor's claims, in this subset of the language:
//
//   - strings, numbers, true, false, null, undefined, arrays, templates without a tag;
//   - visitor.claims and its members, by .name or [index]; a missing member and its members are undefined;
//   - ! && || ?? ?: == != === !== < <= > >= in + - * / %;
//   - length, includes, indexOf, startsWith, endsWith, toLowerCase, toUpperCase.
//
// Parse refuses anything else. There are no loops, functions or variables. So the work is bounded by the size of the
// expression times the size of the claims. The package imports no other package of this module and runs no JavaScript
// engine.
package condition

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// MaxLength bounds the characters of a condition.
const MaxLength = 1024

// Condition is a parsed expression. It is immutable and safe for concurrent use.
type Condition struct {
	root expression
}

// Error is a problem of a condition. At is the number of the character, counted from 1. At is 0 if the problem concerns
// the whole condition. The text is public.
type Error struct {
	Problem string
	At      int
}

// Error returns the text for the client.
func (e *Error) Error() string {
	if e.At == 0 {
		return e.Problem
	}
	return fmt.Sprintf("%s, at character %d", e.Problem, e.At)
}

// ValidOrEmpty reports whether a text is a valid condition or empty, which means no condition.
func ValidOrEmpty(text string) bool {
	if text == "" {
		return true
	}
	_, err := Parse(text)
	return err == nil
}

// Parse parses a condition. An error is always an *Error.
func Parse(text string) (*Condition, error) {
	if utf8.RuneCountInString(text) > MaxLength {
		return nil, &Error{Problem: fmt.Sprintf("must have at most %d characters", MaxLength)}
	}
	if !utf8.ValidString(text) {
		return nil, &Error{Problem: "must be valid UTF-8"}
	}
	// A comment can refer to a source map, and the parser would open this file.
	program, err := parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	if len(program.Body) != 1 {
		return nil, &Error{Problem: "must be one expression"}
	}
	statement, ok := program.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, &Error{Problem: "must be one expression"}
	}
	c := &compiler{text: text}
	root := c.compile(statement.Expression)
	if c.err != nil {
		return nil, c.err
	}
	return &Condition{root: root}, nil
}

// Allows reports whether a visitor with these claims meets the condition. It is false if JavaScript would throw an
// error, for example for a method call on undefined.
func (c *Condition) Allows(claims map[string]any) bool {
	e := &evaluation{claims: claims}
	value := c.root(e)
	return !e.failed && truthy(value)
}

func syntaxError(text string, err error) *Error {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return &Error{Problem: "is not a valid expression"}
	}
	first := list[0]
	offset := 0
	for line := 1; line < first.Position.Line && offset < len(text); offset++ {
		if text[offset] == '\n' {
			line++
		}
	}
	return &Error{Problem: "is not a valid expression (" + first.Message + ")", At: character(text, offset+first.Position.Column-1)}
}

// character returns the number of the character at an offset in bytes. The first character is 1.
func character(text string, offset int) int {
	return utf8.RuneCountInString(text[:max(0, min(offset, len(text)))]) + 1
}

// compiler turns the parser's tree into functions, and refuses nodes that are not in the subset.
type compiler struct {
	text string
	err  error
}

// expression returns a value: undefined, nil, bool, float64, string, []any or map[string]any.
type expression func(e *evaluation) any

func (c *compiler) refuse(at file.Idx, format string, arguments ...any) expression {
	if c.err == nil {
		c.err = &Error{Problem: fmt.Sprintf(format, arguments...), At: character(c.text, int(at)-1)}
	}
	return func(*evaluation) any { return undefined{} }
}
