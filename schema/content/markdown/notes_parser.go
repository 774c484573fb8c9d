package markdown

import (
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var (
	noteOpens = regexp.MustCompile(`^ {0,3}\[\^([^\s\[\]^\\]{1,60})\]:`)
	noteRef   = regexp.MustCompile(`^\[\^([^\s\[\]^\\]{1,60})\]`)
	noteRefs  = regexp.MustCompile(`\[\^([^\s\[\]^\\]{1,60})\]`)
	noteLink  = regexp.MustCompile(`^#(?:user-content-)?fn-`)
)

type noteParser struct{}

func (noteParser) Trigger() []byte { return []byte{'['} }

func (noteParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	match := noteOpens.FindSubmatch(line)
	if match == nil || segment.Padding > 0 {
		return nil, parser.NoChildren
	}
	notes, label := stateOf(pc).notes, string(match[1])
	if notes[label] != nil {
		// If a label has several definitions, the first is used, and the others are read as text.
		return nil, parser.NoChildren
	}
	note := &noteBlock{label: label}
	notes[label] = note
	reader.Advance(len(match[0]))
	return note, parser.HasChildren
}

func (noteParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	switch {
	case at < 0 && util.IsBlank(line):
		advanceToEnd(reader, line, segment)
		return parser.Continue | parser.HasChildren
	case at < 0:
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)
	return parser.Continue | parser.HasChildren
}

func (noteParser) Close(ast.Node, text.Reader, parser.Context) {}

func (noteParser) CanInterruptParagraph() bool { return true }

func (noteParser) CanAcceptIndentedLine() bool { return false }

type noteReferenceParser struct{}

func (noteReferenceParser) Trigger() []byte { return []byte{'['} }

func (noteReferenceParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '^' {
		return nil
	}
	match := noteRef.FindSubmatch(line[:min(len(line), 4*64)])
	s := stateOf(pc)
	if match == nil {
		return nil
	}
	if _, known := s.labels[string(match[1])]; !known && s.notes[string(match[1])] == nil {
		return nil
	}
	block.Advance(len(match[0]))
	return &noteReference{label: string(match[1])}
}
