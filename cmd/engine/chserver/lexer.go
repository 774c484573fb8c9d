package chserver

import "strings"

// token is one lexical unit of a statement. Comments and blanks are not tokens.
type token struct {
	kind       tokenKind
	start, end int
}

type tokenKind uint8

const (
	endOfText  tokenKind = iota
	word                 // a keyword, a bare identifier or a number
	quoted               // 'text' or $tag$text$tag$
	identifier           // `name` or "name"
	symbol               // any other single byte
)

// lexer splits ClickHouse SQL into tokens, for outline and guard. An unclosed
// quote or comment extends to the end of the text; the engine's parser reports
// it.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) next() token {
	l.skipBlanks()
	start := l.pos
	if start == len(l.text) {
		return token{endOfText, start, start}
	}
	kind := symbol
	switch c := l.text[start]; {
	case c == '\'':
		kind = quoted
		l.skipQuoted(c)
	case c == '`' || c == '"':
		kind = identifier
		l.skipQuoted(c)
	case c == '$' && l.skipHeredoc():
		kind = quoted
	case isWordByte(c):
		kind = word
		for l.pos < len(l.text) && isWordByte(l.text[l.pos]) {
			l.pos++
		}
	default:
		l.pos++
	}
	return token{kind, start, l.pos}
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// skipBlanks skips white space and comments: --, //, #!, "# " and nested /* */.
func (l *lexer) skipBlanks() {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case rest[0] == ' ' || rest[0] >= '\t' && rest[0] <= '\r':
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#!"), strings.HasPrefix(rest, "# "):
			l.skipPast("\n")
		case strings.HasPrefix(rest, "/*"):
			l.skipNested()
		default:
			return
		}
	}
}

func (l *lexer) skipPast(mark string) {
	if i := strings.Index(l.text[l.pos:], mark); i >= 0 {
		l.pos += i + len(mark)
		return
	}
	l.pos = len(l.text)
}

func (l *lexer) skipNested() {
	for depth := 0; l.pos < len(l.text); {
		switch rest := l.text[l.pos:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.pos += 2
			if depth == 0 {
				return
			}
		default:
			l.pos++
		}
	}
}

// skipQuoted moves past a quoted text with backslash escapes. It reads a text with a doubled quote as two adjacent
// tokens, which makes no difference to `outline` and `guard`.
func (l *lexer) skipQuoted(quote byte) {
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch l.text[l.pos] {
		case '\\':
			l.pos++
		case quote:
			l.pos++
			return
		}
	}
	l.pos = len(l.text)
}

func (l *lexer) skipHeredoc() bool {
	end := strings.IndexByte(l.text[l.pos+1:], '$')
	if end < 0 {
		return false
	}
	tag := l.text[l.pos : l.pos+end+2]
	for i := 1; i < len(tag)-1; i++ {
		if !isWordByte(tag[i]) {
			return false
		}
	}
	closing := strings.Index(l.text[l.pos+len(tag):], tag)
	if closing < 0 {
		return false
	}
	l.pos += 2*len(tag) + closing
	return true
}

// is reports whether t is the keyword, in upper or lower case.
func (l *lexer) is(t token, keyword string) bool {
	return t.kind == word && strings.EqualFold(l.text[t.start:t.end], keyword)
}

func (l *lexer) isSymbol(t token, c byte) bool {
	return t.kind == symbol && l.text[t.start] == c
}
