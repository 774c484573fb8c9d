package chserver

import (
	"slices"
	"strings"
)

// guard refuses statements that would open files, addresses or other databases. The engine's grants (access.go) already
// refuse most of these statements. `guard` refuses what the engine has no grants for: the function file(), disks that a
// statement defines, INTO OUTFILE, table engines that open files or addresses, and changes of the role that has the
// grants.
//
// `guard` has lists of the allowed verbs, table functions and table engines. It also refuses texts that its lexer and
// the engine's lexer could read differently.
type guard struct {
	functions map[string]bool // refused functions, in lower case
}

// allowedVerbs are the first words of allowed statements.
var allowedVerbs = words(`SELECT WITH FROM ( INSERT CREATE ALTER DROP UNDROP TRUNCATE RENAME EXCHANGE OPTIMIZE DELETE UPDATE
	DESCRIBE DESC SHOW EXISTS EXPLAIN CHECK SET USE KILL SYSTEM DETACH`)

// allowedTableFunctions compute their rows, or read tables that the statement names. To read these tables, the user
// needs the grant for them. All other table functions of the engine are refused.
var allowedTableFunctions = words("numbers numbers_mt zeros zeros_mt generate_series generateseries values view null mergetreeprojection")

// refusedFunctions are the refused functions that are not table functions. The function `file` reads a file as a value.
// With the function `disk`, a statement can store a table in any folder or at any address.
var refusedFunctions = []string{"file", "disk", "catboostevaluate"}

// allowedEngines store their rows in the data directory or in memory, or store no rows.
var allowedEngines = words(`MergeTree ReplacingMergeTree SummingMergeTree AggregatingMergeTree CollapsingMergeTree
	VersionedCollapsingMergeTree CoalescingMergeTree GraphiteMergeTree Memory Null Log TinyLog StripeLog Set Join Buffer Merge Atomic`)

// plainVerbs are the first words of statements that create nothing. In these statements, the word ENGINE is the name of
// a column, and no table engine follows it.
var plainVerbs = words("SELECT WITH FROM ( INSERT DELETE UPDATE DESCRIBE DESC SHOW EXISTS EXPLAIN CHECK SET USE KILL")

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[strings.ToLower(w)] = true
	}
	return set
}

// newGuard makes a guard from the names of all table functions of the engine.
func newGuard(tableFunctions []string) *guard {
	g := &guard{functions: map[string]bool{}}
	for _, name := range slices.Concat(tableFunctions, refusedFunctions) {
		if name = strings.ToLower(name); !allowedTableFunctions[name] {
			g.functions[name] = true
		}
	}
	return g
}

func denied(format string, args ...any) error {
	return refuse(codeAccessDenied, "Access denied by the embedded engine: "+format, args...)
}

// check returns an error if a client's statement is refused.
func (g *guard) check(text string) error {
	l := &lexer{text: text}
	t := l.next()
	if t.kind == endOfText {
		return nil // outline reports the empty query
	}
	verb := strings.ToLower(text[t.start:t.end])
	if !allowedVerbs[verb] {
		return denied("statements that begin with %s are not allowed", brief(text[t.start:t.end]))
	}
	for ; t.kind != endOfText; t = l.next() {
		if err := g.checkToken(l, t, verb); err != nil {
			return err
		}
	}
	return nil
}

// checkToken checks t and the tokens that follow it.
func (g *guard) checkToken(l *lexer, t token, verb string) error {
	written := l.text[t.start:t.end]
	ahead := *l
	next := ahead.next()
	switch t.kind { // quoted text is only a value
	case symbol:
		if written[0] < ' ' || written[0] > '~' {
			return denied("byte %#x outside of quotes", written[0])
		}
		return nil
	case identifier:
		if err := checkIdentifier(written); err != nil {
			return err
		}
	case word:
		if err := checkWord(&ahead, written, next, verb); err != nil {
			return err
		}
	default:
		return nil
	}
	// Refuse `file` without a bracket too. In some places the engine reads a function's name as a value, and no bracket
	// follows.
	name := strings.ToLower(unquoteIdentifier(written))
	if name == "file" || g.functions[name] && l.isSymbol(next, '(') {
		return denied("function %s", brief(name))
	}
	return nil
}

// checkIdentifier refuses quoted names that unquoteIdentifier and the engine could read differently. It also refuses
// paths, because the engine would read the file as a table.
func checkIdentifier(written string) error {
	for i := 1; i < len(written)-1; i++ {
		if written[i] == '\\' {
			if i++; strings.IndexByte("\\`\"'", written[i]) < 0 {
				return denied("the name %s has escapes", brief(written))
			}
		}
	}
	if strings.IndexByte(written, '/') >= 0 {
		return denied("the name %s is a path", brief(written))
	}
	return nil
}

// checkWord checks a word without quotes. `next` is the token after the word, and the lexer `ahead` continues after
// `next`.
func checkWord(ahead *lexer, written string, next token, verb string) error {
	for i := range len(written) {
		if written[i] >= 0x80 { // the engine regards some of these bytes as blanks or quotes
			return denied("byte %#x outside of quotes", written[i])
		}
	}
	switch strings.ToUpper(written) {
	case "OUTFILE", "INFILE":
		return denied("%s, which opens a file", brief(written))
	case "EXECUTE":
		if ahead.is(next, "AS") {
			return denied("EXECUTE AS")
		}
	case "PARALLEL":
		if ahead.is(next, "WITH") {
			return denied("PARALLEL WITH")
		}
	case "SET":
		if ahead.is(next, "ROLE") && !ahead.isSymbol(ahead.next(), '=') || ahead.is(next, "DEFAULT") {
			return denied("changing the role")
		}
	case "ENGINE":
		if plainVerbs[verb] {
			return nil
		}
		if ahead.isSymbol(next, '=') {
			next = ahead.next()
		}
		name := ahead.text[next.start:next.end]
		if next.kind == identifier {
			name = unquoteIdentifier(name)
		}
		if !allowedEngines[strings.ToLower(name)] {
			return denied("engine %s", brief(name))
		}
	}
	return nil
}

// brief shortens text from a client for an error message.
func brief(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
