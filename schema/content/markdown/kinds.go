package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// init fills the tables of kinds. The tables have no initializers, because the readers and writers in them use the
// tables for nested blocks.

func init() {
	blockReaders = map[ast.NodeKind]func(r *reader, n ast.Node) []schema.Node{
		ast.KindParagraph:       (*reader).paragraph,
		ast.KindTextBlock:       (*reader).paragraph,
		ast.KindHeading:         (*reader).heading,
		ast.KindThematicBreak:   (*reader).divider,
		ast.KindCodeBlock:       (*reader).code,
		ast.KindFencedCodeBlock: (*reader).code,
		ast.KindBlockquote:      (*reader).quote,
		ast.KindList:            (*reader).list,
		ast.KindHTMLBlock:       (*reader).htmlBlock,
		kindTag:                 (*reader).tagBlock,
		kindDetails:             (*reader).details,
		kindMathBlock:           (*reader).mathBlock,
		kindNote:                (*reader).noteBlock,
		kindAttributes:          (*reader).attributes,
		kindComponent:           (*reader).component,
		kindTable:               (*reader).tableBlock,
		east.KindTable:          (*reader).table,
	}
}

func init() {
	blockWriters = map[string]func(w writer, n *schema.Node) string{
		"paragraph":   writer.paragraph,
		"heading-1":   writer.heading,
		"heading-2":   writer.heading,
		"heading-3":   writer.heading,
		"divider":     writer.divider,
		"blockquote":  writer.quote,
		"code":        writer.code,
		"math":        writer.math,
		"images":      writer.images,
		"image":       func(_ writer, n *schema.Node) string { return figureHTML(n) },
		"table":       writer.table,
		"expandable":  writer.expandable,
		"drawing":     writer.drawing,
		"integration": writer.integration,
		kindRaw:       func(_ writer, n *schema.Node) string { return content.Member(n.Data, memberSource) },
	}
}

func init() {
	flowReaders = map[string]func(r *reader, e *element) ([]schema.Node, bool){
		"p": (*reader).alignedParagraph, "ul": (*reader).htmlList, "ol": (*reader).htmlList, "pre": (*reader).pre,
		"figure": (*reader).figures, "div": (*reader).figures, "blockquote": (*reader).htmlQuote,
		"h1": (*reader).htmlHeading, "h2": (*reader).htmlHeading, "h3": (*reader).htmlHeading,
		"h4": (*reader).htmlHeading, "h5": (*reader).htmlHeading, "h6": (*reader).htmlHeading,
	}
	topReaders = map[string]func(r *reader, e *element) ([]schema.Node, bool){
		"p": (*reader).topParagraph, "pre": (*reader).pre, "figure": (*reader).figures, "div": (*reader).figures,
		"table": (*reader).htmlTable, "img": (*reader).imageBlock, "hr": (*reader).rule,
		"h1": (*reader).htmlHeading, "h2": (*reader).htmlHeading, "h3": (*reader).htmlHeading,
		"h4": (*reader).htmlHeading, "h5": (*reader).htmlHeading, "h6": (*reader).htmlHeading,
	}
}
