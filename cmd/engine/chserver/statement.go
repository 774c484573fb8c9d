package chserver

import "strings"

// statement has what the server must know about a query to run it.
type statement struct {
	kind statementKind
	text string // without FORMAT clause and trailing semicolon
	verb string // the first keyword, upper case

	insert      *insertTarget // insert is set only for insertData
	assignments []assignment  // assignments is set only for setSession
}

type statementKind uint8

const (
	command    statementKind = iota // its result comes in one piece
	selection                       // its result can be streamed
	insertData                      // rows follow as blocks
	setSession                      // SET a = b
	useDatabase
)

// insertTarget has the table, the columns and the settings of an INSERT, as the client wrote them.
type insertTarget struct {
	table    string
	columns  []string // unquoted; nil means all
	settings string   // the text after the keyword SETTINGS
}

// assignment is one "name = value" of a SET. The value is a literal, as the client wrote it.
type assignment struct{ name, value string }

// outline parses a query, and returns what the server must know to run it. It refuses several statements in one query,
// as a server does, because the library would run all of them.
func outline(text string) (*statement, error) {
	l := &lexer{text: text}
	first := l.next()
	if first.kind == endOfText {
		return nil, refuse(codeSyntaxError, "Empty query")
	}
	st := &statement{kind: command, verb: strings.ToUpper(text[first.start:first.end])}
	switch st.verb {
	case "INSERT":
		insert, inline, err := outlineInsert(l)
		if err != nil {
			return nil, err
		}
		if insert != nil {
			st.kind, st.insert = insertData, insert
			return st, nil
		}
		if inline { // only the format defines where the data ends and another statement begins
			return nil, denied("data of a format in the text of an INSERT: send it as blocks or VALUES")
		}
	case "SELECT", "WITH", "FROM", "(":
		st.kind = selection
	case "SET":
		st.kind = setSession
		st.assignments = outlineSet(&lexer{text: text, pos: first.end})
	case "USE":
		st.kind = useDatabase
	}
	end, err := outlineEnd(l, first)
	if err != nil {
		return nil, err
	}
	st.text = text[:end]
	return st, nil
}

// outlineEnd finds the end of the statement. It drops a trailing FORMAT clause, because this protocol always sends the
// result as blocks.
func outlineEnd(l *lexer, last token) (int, error) {
	var before token
	for {
		t := l.next()
		if l.isSymbol(t, ';') {
			if rest := l.next(); rest.kind != endOfText && !l.isSymbol(rest, ';') {
				return 0, refuse(codeSyntaxError, "Syntax error (Multi-statements are not allowed): failed at position %d", rest.start+1)
			}
			break
		}
		if t.kind == endOfText {
			break
		}
		before, last = last, t
	}
	if l.is(before, "FORMAT") && last.kind == word {
		return before.start, nil
	}
	return last.end, nil
}

// outlineInsert reads the part of a statement after INSERT. It returns the target if the rows follow as blocks.
// `inline` is true if the text itself contains the data, in a format.
func outlineInsert(l *lexer) (target *insertTarget, inline bool, err error) {
	t := l.next()
	if l.is(t, "INTO") {
		t = l.next()
	}
	if l.is(t, "TABLE") {
		t = l.next()
	}
	if l.is(t, "FUNCTION") {
		return nil, false, nil
	}
	target = &insertTarget{}
	start, end := t.start, t.end
	for t.kind == word || t.kind == identifier || l.isSymbol(t, '.') {
		end = t.end
		if t = l.next(); l.is(t, "VALUES") || l.is(t, "FORMAT") || l.is(t, "SETTINGS") || l.is(t, "SELECT") || l.is(t, "WITH") {
			break
		}
	}
	target.table = l.text[start:end]
	if l.isSymbol(t, '(') {
		var plain bool
		if target.columns, plain = outlineColumns(l); !plain {
			return nil, false, nil // (SELECT …), or a form that only the engine understands
		}
		t = l.next()
	}
	if l.is(t, "SETTINGS") {
		start := t.end
		for !l.is(t, "VALUES") && !l.is(t, "FORMAT") && !l.is(t, "SELECT") && t.kind != endOfText {
			t = l.next()
		}
		target.settings = strings.TrimSpace(l.text[start:t.start])
	}
	switch {
	case l.is(t, "VALUES"):
		return insertIfNothingFollows(l, target, false)
	case l.is(t, "FORMAT"):
		format := l.next()
		return insertIfNothingFollows(l, target, !l.is(format, "VALUES"))
	case t.kind == endOfText, l.isSymbol(t, ';'):
		return target, false, nil
	}
	return nil, false, nil
}

func insertIfNothingFollows(l *lexer, target *insertTarget, inline bool) (*insertTarget, bool, error) {
	t := l.next()
	for l.isSymbol(t, ';') {
		t = l.next()
	}
	if t.kind == endOfText {
		return target, false, nil
	}
	return nil, inline, nil
}

// outlineColumns reads a column list after its opening bracket. `plain` is true if the list contains only names.
func outlineColumns(l *lexer) (names []string, plain bool) {
	name := ""
	for {
		t := l.next()
		switch {
		case (t.kind == word || t.kind == identifier) && (name == "" || strings.HasSuffix(name, ".")):
			name += unquoteIdentifier(l.text[t.start:t.end])
		case l.isSymbol(t, '.') && name != "":
			name += "."
		case l.isSymbol(t, ',') && name != "", l.isSymbol(t, ')') && name != "":
			names, name = append(names, name), ""
			if l.isSymbol(t, ')') {
				return names, true
			}
		default:
			return nil, false
		}
	}
}

// outlineSet reads "a = 1, b = 'x'". Commas inside brackets do not separate assignments. For other forms of SET, such
// as SET ROLE, it returns no assignments.
func outlineSet(l *lexer) (out []assignment) {
	for {
		name := l.next()
		if equals := l.next(); name.kind != word && name.kind != identifier || !l.isSymbol(equals, '=') {
			return out
		}
		start, end, depth := -1, 0, 0
		t := l.next()
		for ; t.kind != endOfText && !l.isSymbol(t, ';') && (depth > 0 || !l.isSymbol(t, ',')); t = l.next() {
			if start < 0 {
				start = t.start
			}
			end = t.end
			if t.kind == symbol {
				depth += strings.Count("([{", l.text[t.start:t.end]) - strings.Count(")]}", l.text[t.start:t.end])
			}
		}
		if start < 0 {
			return out
		}
		out = append(out, assignment{unquoteIdentifier(l.text[name.start:name.end]), l.text[start:end]})
		if !l.isSymbol(t, ',') {
			return out
		}
	}
}

// unquoteIdentifier removes the quotes and escapes of `name` or "name".
func unquoteIdentifier(text string) string {
	if len(text) < 2 || text[0] != '`' && text[0] != '"' {
		return text
	}
	body := text[1 : len(text)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] == '\\' && i+1 < len(body) {
			i++
		}
		b.WriteByte(body[i])
	}
	return b.String()
}

// sqlEscaper escapes a text for use between quotes.
var sqlEscaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`")

func quoteIdentifier(name string) string { return "`" + sqlEscaper.Replace(name) + "`" }

func quoteText(text string) string { return "'" + sqlEscaper.Replace(text) + "'" }
