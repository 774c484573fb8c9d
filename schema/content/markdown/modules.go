package markdown

import (
	"bytes"
	"regexp"
	"strings"
)

// MDX has module statements, such as import Tabs from '@theme/Tabs'. A statement begins at the start of a line without
// indentation, and a block of statements ends at a blank line. Readers do not see the statements.

var (
	// moduleStart matches the beginning of a statement. A sentence can also begin with the word import or export, so
	// the pattern requires more than this word.
	moduleStart = regexp.MustCompile(`^(?:import[ \t]*(?:['"]|\{|\*[ \t]+as[ \t]|(?:type[ \t]+)?[\w$]+[ \t]*` +
		`(?:,[ \t]*[{*]|from[ \t]*['"])` +
		`|[ \t]type[ \t]+\{)|export[ \t]*(?:\{|\*[ \t]*(?:as[ \t]+[\w$]+[ \t]*)?from[ \t]*['"])` +
		`|export[ \t]+(?:(?:const|let|var)[ \t]+(?:[\w$]+[ \t]*[:=]|[{\[])|(?:default[ \t]+)?` +
		`(?:async[ \t]+)?function\b[ \t*]*[\w$]*[ \t]*[(<]` +
		`|(?:default[ \t]+)?class[ \t]+[\w$]+[^\n]*\{` +
		`|default[ \t]*(?:[{(\[<]|[\w$.]+(?:;|[ \t]*\(|[ \t]*=>|[ \t]*\n|[ \t]*$))` +
		`|(?:type|interface|enum)[ \t]+[\w$]+[^\n]*[{=]))`)
	// importSource matches the end of an import with names.
	importSource = regexp.MustCompile(`from[ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*;?[ \t]*(?://[^\n]*)?$`)
	importWord   = []byte("import")
	exportWord   = []byte("export")
)

// maxModule bounds the length of a block of statements.
const maxModule = 64 << 10

// isModule reports whether a source is a block of statements.
func isModule(source string) bool {
	end, _ := moduleEnd([]byte(source))
	return end > 0 && end == len(source)
}

// moduleEnd returns the length of the block of statements at the beginning of the source, without the final line end.
// It returns 0 if the source does not begin with a statement. `seen` is the number of bytes that were read.
func moduleEnd(source []byte) (length, seen int) {
	if !bytes.HasPrefix(source, importWord) && !bytes.HasPrefix(source, exportWord) {
		return 0, 0
	}
	source = source[:min(len(source), maxModule)]
	for {
		first, _, _ := bytes.Cut(source[length:], []byte("\n"))
		if !moduleStart.Match(first) {
			return 0, length + len(first)
		}
		end, ok := statementEnd(source, length)
		if !ok {
			return 0, end
		}
		if !isStatement(source[length:end]) {
			return 0, end
		}
		next, _, _ := bytes.Cut(source[min(end+1, len(source)):], []byte("\n"))
		if len(bytes.TrimSpace(next)) == 0 {
			return end, end
		}
		length = end + 1
	}
}

// isStatement reports whether a source begins with an export or an import. A sentence may begin like an import.
func isStatement(source []byte) bool {
	if !bytes.HasPrefix(source, importWord) {
		return true
	}
	rest := bytes.TrimLeft(source[len(importWord):], " \t")
	return rest[0] == '"' || rest[0] == '\'' || importSource.Match(source)
}

// statementEnd returns the end of a statement. A statement ends with the first line after which all brackets are
// closed, if the next line is not indented.
func statementEnd(source []byte, at int) (end int, ok bool) {
	depth := 0
	for ; at < len(source); at++ {
		switch c := source[at]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return at, false
			}
		case '\n':
			if after := at + 1; depth == 0 && (after >= len(source) || source[after] != ' ' && source[after] != '\t') {
				return at, true
			}
		case '"', '\'', '`':
			at += stringEnd(source[at:])
		case '/':
			rest := source[at:]
			switch {
			case bytes.HasPrefix(rest, []byte("//")) && (at == 0 || source[at-1] != ':'):
				if line := bytes.IndexByte(rest, '\n'); line >= 0 {
					at += line - 1
				}
			case bytes.HasPrefix(rest, []byte("/*")):
				closed := bytes.Index(rest, []byte("*/"))
				if closed < 0 {
					return len(source), false
				}
				at += closed + 1
			}
		}
	}
	return at, depth == 0
}

// stringEnd returns the position of the end of a string. It returns 0 if the string has no end. Only a template string
// in backticks may have several lines.
func stringEnd(source []byte) int {
	for at := 1; at < len(source); at++ {
		switch source[at] {
		case '\\':
			at++
		case source[0]:
			return at
		case '\n':
			if source[0] != '`' {
				return 0
			}
		}
	}
	return 0
}

// moduleEnd searches for the end of statements. It returns 0 if failed searches have already read too much text.
func (s *markdownState) moduleEnd(source []byte) int {
	if s.failedSearch < 0 {
		return 0
	}
	length, seen := moduleEnd(source)
	s.steps += seen
	if length == 0 {
		s.failedSearch -= seen
	}
	return length
}

// beginsModule reports whether a paragraph that begins with a text could be read as a statement. `after` is the source
// that follows the text, and may be the rest of the statement.
func beginsModule(text, after string) bool {
	if !strings.HasPrefix(text, string(importWord)) && !strings.HasPrefix(text, string(exportWord)) {
		return false
	}
	if after == "" {
		end, _ := moduleEnd([]byte(text))
		_, closed := statementEnd([]byte(text), 0) // The next paragraphs may close brackets that are still open.
		return end > 0 || !closed && moduleStart.MatchString(text)
	}
	return strings.TrimSpace(text[len(importWord):]) == "" || moduleStart.MatchString(text)
}
