package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// markdownParser reads CommonMark and GFM with GitBook's tags. The time of parsing is linear in the text's length.
// TestMarkdownCost checks this with difficult texts.
var markdownParser = newMarkdownParser()

func newMarkdownParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nested{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(tagParser{}, 650),
			util.Prioritized(mathParser{}, 660),
			util.Prioritized(attributesParser{}, 670),
			util.Prioritized(componentBlockParser{}, 680),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(nested{noteParser{}}, 850),
			util.Prioritized(detailsParser{}, 880),
			util.Prioritized(tableBlockParser{}, 890),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(newTaskParser(), 0),
			util.Prioritized(codeSpanParser{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(noteReferenceParser{}, 150),
			util.Prioritized(linkParser{}, 200),
			util.Prioritized(newAutoLinkParser(), 300),
			util.Prioritized(componentParser{}, 390),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(looseTagParser{}, 410),
			util.Prioritized(emphasisParser{}, 500),
			util.Prioritized(commentParser{}, 590),
			util.Prioritized(mathInlineParser{}, 600),
			util.Prioritized(emojiParser{}, 610),
			util.Prioritized(headingIDParser{}, 615),
			util.Prioritized(attributesInlineParser{}, 616),
			util.Prioritized(tagInlineParser{}, 620),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(referenceTransformer{}, 100),
			util.Prioritized(newTableTransformer(), 200),
		),
	)
}

func newReader(markdown string) *reader {
	return &reader{source: []byte(splitTags(content.Clean(markdown))), expandedNotes: map[string]bool{}}
}

// parse parses the text. labels has the labels of footnotes whose definitions are elsewhere.
func (r *reader) parse(labels map[string]int) ast.Node {
	pc, state := newContext(r.source)
	r.state, state.labels = state, labels
	return markdownParser.Parse(text.NewReader(r.source), parser.WithContext(pc))
}

// maxFailedSearch limits how many bytes the searches for components' ends may read without finding an end. The bound is
// this number multiplied by the text's length.
const maxFailedSearch = 16

func newContext(source []byte) (parser.Context, *markdownState) {
	s := &markdownState{
		depths: map[ast.Node]int{}, maxExpanded: max(len(source), schema.MaxMarkdown), paired: pairBrackets(source),
		notes: map[string]*noteBlock{}, tables: findTables(source), failedSearch: maxFailedSearch * len(source),
	}
	pc := parser.NewContext()
	pc.Set(stateKey, s)
	return pc, s
}

// taskParser is goldmark's parser with one more rule: after the box there must be a space or the end of the line. So "-
// [x](/)" is a list item with a link, and not a task.
type taskParser struct{ parser.InlineParser }

func newTaskParser() parser.InlineParser { return taskParser{extension.NewTaskCheckBoxParser()} }

func (p taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 3 || !strings.ContainsRune(" xX", rune(line[1])) || line[2] != ']' ||
		len(line) > 3 && !util.IsSpace(line[3]) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}
