package gitlayout

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

type itemKind int

const (
	itemPage itemKind = iota
	itemHeading
	itemRule
)

// item is a line of a table of contents that contains an entry, a heading or a horizontal rule.
type item struct {
	kind        itemKind
	depth       int
	title, dest string
	slug, label string // the id of a heading, and the title of an entry's link
	// `line` is the index of the item's line. `level` is the depth of the item's entry.
	line, level int
	// `key` is the key of the item's entry. `parent` is the key of the parent entry or of the group.
	key, parent string
}

// summary is a parsed table of contents. Its lines have all bytes of the file.
type summary struct {
	lines []string // each line with its line break
	items []item
}

var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	entryLine   = regexp.MustCompile(`^([ \t]*)([*+-]|\d{1,9}[.)])[ \t]+(\S.*)$`)
	ruleLine    = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```|~~~)")
)

// parseSummary reads a table of contents.
func parseSummary(text string) *summary {
	s := &summary{lines: strings.SplitAfter(text, "\n")}
	if last := len(s.lines) - 1; s.lines[last] == "" {
		s.lines = s.lines[:last]
	}
	var indents []int
	first, fence, comment := true, "", false
	for at, whole := range s.lines {
		line, _ := cutEnd(whole)
		it, ok := item{}, false
		switch {
		case comment:
			comment = !strings.Contains(line, "-->")
		case fence != "":
			if strings.HasPrefix(strings.TrimLeft(line, " "), fence) {
				fence = ""
			}
		case strings.HasPrefix(strings.TrimSpace(line), "<!--"):
			comment = !strings.Contains(line, "-->")
		case fenceLine.MatchString(line):
			fence = fenceLine.FindStringSubmatch(line)[1]
		case ruleLine.MatchString(line):
			it, ok = item{kind: itemRule}, len(s.items) > 0
		default:
			it, ok = readItem(line, &indents, &first)
		}
		if !ok {
			continue
		}
		if it.kind != itemPage {
			indents = nil
		}
		it.line = at
		s.items = append(s.items, it)
	}
	return s
}

// cutEnd separates a line's text from its line break.
func cutEnd(line string) (text, end string) {
	if text, is := strings.CutSuffix(line, "\n"); is {
		text = strings.TrimSuffix(text, "\r")
		return text, line[len(text):]
	}
	return line, ""
}

func readItem(line string, indents *[]int, first *bool) (item, bool) {
	if found := headingLine.FindStringSubmatch(line); found != nil {
		if title := *first && len(found[1]) == 1; title {
			*first = false
			return item{}, false // this heading is the title of the table of contents
		}
		*first = false
		text, slug := readHeading(found[2])
		return item{kind: itemHeading, title: text, slug: slug}, text != ""
	}
	found := entryLine.FindStringSubmatch(line)
	if found == nil {
		return item{}, false
	}
	width := 0
	for _, r := range found[1] {
		if width++; r == '\t' {
			width += 3
		}
	}
	for len(*indents) > 0 && (*indents)[len(*indents)-1] >= width {
		*indents = (*indents)[:len(*indents)-1]
	}
	it := item{kind: itemPage, depth: len(*indents)}
	*indents = append(*indents, width)
	it.title, it.dest, it.label = readLabel(found[3])
	if it.title == "" && it.dest != "" {
		it.title = titleOfFile(it.dest)
	}
	return it, it.title != ""
}

// readLabel reads the Markdown of an entry. It returns the text, destination and title attribute of the entry's link.
// If the entry has no link, readLabel returns only the entry's text.
func readLabel(text string) (title, dest, label string) {
	d, err := markdown.Read(text)
	if err != nil || len(d.Nodes) == 0 {
		return "", "", ""
	}
	if link := firstLink(d.Nodes[:1]); link != nil {
		ref, _ := link.Data["ref"].(map[string]any)
		dest, _ = ref["url"].(string)
		return oneLine(content.InlineText(link.Nodes)), dest, oneLine(content.Member(link.Data, "title"))
	}
	return oneLine(content.InlineText(d.Nodes[0].Nodes)), "", ""
}

// readHeading reads the Markdown of a heading. It returns the heading's text and the id in its anchor.
func readHeading(text string) (title, id string) {
	d, err := markdown.Read("## " + text)
	if err != nil || len(d.Nodes) != 1 {
		return "", ""
	}
	return oneLine(content.InlineText(d.Nodes[0].Nodes)), content.Member(d.Nodes[0].Data, "id")
}

func firstLink(nodes []schema.Node) *schema.Node {
	for i := range nodes {
		if nodes[i].Type == "link" {
			return &nodes[i]
		}
		if found := firstLink(nodes[i].Nodes); found != nil {
			return found
		}
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
