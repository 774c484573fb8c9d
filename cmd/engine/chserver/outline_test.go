package chserver

import (
	"reflect"
	"strings"
	"testing"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]statement{
		"SELECT 1":                                    {kind: selection, verb: "SELECT", text: "SELECT 1"},
		" -- c\n/* x; */ select 1 ; ; # end":          {kind: selection, verb: "SELECT", text: " -- c\n/* x; */ select 1"},
		"SELECT ';' AS `;`, \"a;\\\"\" FORMAT Native": {kind: selection, verb: "SELECT", text: "SELECT ';' AS `;`, \"a;\\\"\" "},
		"SELECT $a$ ; $a$, '\\';'":                    {kind: selection, verb: "SELECT", text: "SELECT $a$ ; $a$, '\\';'"},
		"SELECT format FROM t":                        {kind: selection, verb: "SELECT", text: "SELECT format FROM t"},
		"(SELECT 1)":                                  {kind: selection, verb: "(", text: "(SELECT 1)"},
		"DROP TABLE t;":                               {kind: command, verb: "DROP", text: "DROP TABLE t"},
		"USE `a b`":                                   {kind: useDatabase, verb: "USE", text: "USE `a b`"},
		// This package does not track assignments to dotted names.
		"SET a = 1, b='x,y', c = [1, 2], d.e = {'k': (1, 2)}": {kind: setSession, verb: "SET", text: "SET a = 1, b='x,y', c = [1, 2], d.e = {'k': (1, 2)}",
			assignments: []assignment{{"a", "1"}, {"b", "'x,y'"}, {"c", "[1, 2]"}}},
		"SET ROLE x":           {kind: setSession, verb: "SET", text: "SET ROLE x"},
		"INSERT INTO t VALUES": {kind: insertData, verb: "INSERT", insert: &insertTarget{table: "t"}},
		"INSERT INTO TABLE `d`.\"t\" FORMAT Native": {kind: insertData, verb: "INSERT", insert: &insertTarget{table: "`d`.\"t\""}},
		"insert into d.t (a, `b\\`, c`, n.x, \"y\\\"z\") format native;": {kind: insertData, verb: "INSERT",
			insert: &insertTarget{table: "d.t", columns: []string{"a", "b`, c", "n.x", `y"z`}}},
		"INSERT INTO t (a) SETTINGS x = 1, y = 'VALUES' VALUES": {kind: insertData, verb: "INSERT",
			insert: &insertTarget{table: "t", columns: []string{"a"}, settings: "x = 1, y = 'VALUES'"}},
		"INSERT INTO t VALUES (1)":                {kind: command, verb: "INSERT", text: "INSERT INTO t VALUES (1)"},
		"INSERT INTO t SELECT 1":                  {kind: command, verb: "INSERT", text: "INSERT INTO t SELECT 1"},
		"INSERT INTO t (SELECT 1)":                {kind: command, verb: "INSERT", text: "INSERT INTO t (SELECT 1)"},
		"INSERT INTO FUNCTION file('x') SELECT 1": {kind: command, verb: "INSERT", text: "INSERT INTO FUNCTION file('x') SELECT 1"},
	} {
		got, err := outline(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s:\n got %+v %+v\nwant %+v %+v", text, *got, got.insert, want, want.insert)
		}
	}
	for text, code := range map[string]int32{
		"": codeSyntaxError, " -- x": codeSyntaxError, "SELECT 1; SELECT 2": codeSyntaxError, "INSERT INTO t VALUES (1); DROP TABLE t": codeSyntaxError,
		"INSERT INTO t FORMAT TSV a;b": codeAccessDenied,
	} {
		if _, err := outline(text); asException(err).code != code {
			t.Errorf("%q gave %v", text, err)
		}
	}
}

func TestParseType(t *testing.T) {
	t.Parallel()
	for typ := range typeCases {
		if _, err := parseType(typ); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
	for _, typ := range []string{
		"", "Wat", "AggregateFunction(uniq, UInt64)", "Variant(String, UInt8)", "Dynamic", "JSON", "Array(", "Array)", "Array(UInt8))(", "FixedString(0)",
		"FixedString(99999999999)", "Decimal(99, 2)", "LowCardinality(Array(String))", "Tuple()", "Map(String)", strings.Repeat("Array(", 40) + "UInt8" + strings.Repeat(")", 40),
	} {
		if l, err := parseType(typ); err == nil {
			t.Errorf("%q has layout %+v", typ, l)
		} else if asException(err).code != codeUnknownType {
			t.Errorf("%q gave %v", typ, err)
		}
	}
}

func TestParseException(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]exception{
		"Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)\n": {60, "DB::Exception", "Unknown table. (UNKNOWN_TABLE)"},
		"Code: 62. DB::ParsingException: Bad\nline":                 {62, "DB::ParsingException", "Bad\nline"},
		"std::bad_alloc":                      {codeUnknown, "DB::Exception", "std::bad_alloc"},
		"Code: 99999999999. DB::Exception: x": {codeUnknown, "DB::Exception", "x"},
	} {
		if got := parseException(text); *got != want {
			t.Errorf("%q gave %+v", text, *got)
		}
	}
}

func TestBlockFramings(t *testing.T) {
	t.Parallel()
	b := &block{rows: 2, columns: []column{
		{"a", "UInt16", []byte{10, 10, 10, 10}},
		{"s", "String", []byte{1, 'x', 0}},
		{"l", "Array(LowCardinality(String))", append(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 8)...), make([]byte, 8)...)},
	}}
	for _, form := range []framing{native, onWire} {
		data := appendBlock(nil, b, form)
		got, err := readBlock(&source{buf: data, limit: len(data)}, form)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v: %+v, %v", form, got, err)
		}
		for n := range data { // every truncated block must be an error
			if _, err := readBlock(&source{buf: data[:n], limit: len(data)}, form); err == nil {
				t.Errorf("%v: the first %d of %d bytes were read as a block", form, n, len(data))
			}
		}
	}
}
