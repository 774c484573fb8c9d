package chserver

import (
	"slices"
	"strings"
)

// guard refuses statements that would open files, addresses or other
// databases. The engine's grants (access.go) refuse most of them by
// themselves, also where a statement hides them; guard is for what no grant
// covers: the function file(), disks made up in a statement, INTO OUTFILE, the
// engines that open what they are named, and changing the role that the grants
// go by.
//
// It goes by lists of what is allowed. What its lexer could read otherwise
// than the engine's is refused as well.
type guard struct {
	functions map[string]bool // not to be called, lower case
}

// allowedVerbs begin the statements that are run.
var allowedVerbs = words(`SELECT WITH FROM ( INSERT CREATE ALTER DROP UNDROP TRUNCATE RENAME EXCHANGE OPTIMIZE DELETE UPDATE
	DESCRIBE DESC SHOW EXISTS EXPLAIN CHECK SET USE KILL SYSTEM DETACH`)

// allowedTableFunctions compute what they give, or read tables that are named
// in the statement. All others that the engine has are refused.
var allowedTableFunctions = words("numbers numbers_mt zeros zeros_mt generate_series generateseries values view null")

// refusedFunctions are no table functions. file reads one as a value; disk
// makes a table's storage out of a path or an address.
var refusedFunctions = []string{"file", "disk", "catboostevaluate"}

// allowedEngines keep their rows in the data directory or in memory, or have
// none.
var allowedEngines = words(`MergeTree ReplacingMergeTree SummingMergeTree AggregatingMergeTree CollapsingMergeTree
	VersionedCollapsingMergeTree CoalescingMergeTree GraphiteMergeTree Memory Null Log TinyLog StripeLog Set Join Buffer Merge Atomic`)

// plainVerbs begin statements that make nothing, in which ENGINE is a column.
var plainVerbs = words("SELECT WITH FROM ( INSERT DELETE UPDATE DESCRIBE DESC SHOW EXISTS EXPLAIN CHECK SET USE KILL")

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[strings.ToLower(w)] = true
	}
	return set
}

// newGuard takes the names of all table functions that the engine has.
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

// check looks at a statement as it came.
func (g *guard) check(text string) error {
	l := &lexer{text: text}
	t := l.next()
	if t.kind == endOfText {
		return nil // outline says so
	}
	verb := strings.ToLower(text[t.start:t.end])
	if !allowedVerbs[verb] {
		return denied("statements that begin with %s are not run", brief(text[t.start:t.end]))
	}
	for ; t.kind != endOfText; t = l.next() {
		if err := g.checkToken(l, t, verb); err != nil {
			return err
		}
	}
	return nil
}

// checkToken judges t by itself and by what follows it.
func (g *guard) checkToken(l *lexer, t token, verb string) error {
	written := l.text[t.start:t.end]
	ahead := *l
	next := ahead.next()
	switch t.kind { //nolint:exhaustive // a quoted text is a value
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
	// file is refused without a bracket too: where the engine takes the name
	// of a function as a value, nothing follows it.
	name := strings.ToLower(unquoteIdentifier(written))
	if name == "file" || g.functions[name] && l.isSymbol(next, '(') {
		return denied("function %s", brief(name))
	}
	return nil
}

// checkIdentifier refuses a quoted name that unquoteIdentifier could read
// otherwise than the engine does, and paths: the engine takes a file for a
// table.
func checkIdentifier(written string) error {
	for i := 1; i < len(written)-1; i++ {
		if written[i] == '\\' {
			if i++; strings.IndexByte("\\`\"'", written[i]) < 0 {
				return denied("escapes in the name %s", brief(written))
			}
		}
	}
	if strings.IndexByte(written, '/') >= 0 {
		return denied("the name %s is a path", brief(written))
	}
	return nil
}

// checkWord looks for keywords; next follows the word, and ahead goes on
// behind next.
func checkWord(ahead *lexer, written string, next token, verb string) error {
	for i := range len(written) {
		if written[i] >= 0x80 { // the engine knows blanks and quotes among them
			return denied("byte %#x outside of quotes", written[i])
		}
	}
	switch strings.ToUpper(written) {
	case "OUTFILE", "INFILE":
		return denied("files by %s", brief(written))
	case "EXECUTE":
		if ahead.is(next, "AS") {
			return denied("another user's rights")
		}
	case "PARALLEL":
		if ahead.is(next, "WITH") {
			return denied("several statements in one")
		}
	case "SET":
		if ahead.is(next, "ROLE") && !ahead.isSymbol(ahead.next(), '=') || ahead.is(next, "DEFAULT") {
			return denied("another role")
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

// brief keeps a client's words from filling an answer.
func brief(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
