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
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := outline(text)
			must(t, err)
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("\n got %+v %+v\nwant %+v %+v", *got, got.insert, want, want.insert)
			}
		})
	}
	for text, code := range map[string]int32{
		"": codeSyntaxError, " -- x": codeSyntaxError, "SELECT 1; SELECT 2": codeSyntaxError, "INSERT INTO t VALUES (1); DROP TABLE t": codeSyntaxError,
		"INSERT INTO t FORMAT TSV a;b": codeAccessDenied,
	} {
		t.Run("refused "+text, func(t *testing.T) {
			t.Parallel()
			if _, err := outline(text); asException(err).code != code {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestParseType(t *testing.T) {
	t.Parallel()
	for typ := range typeCases {
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			_, err := parseType(typ)
			must(t, err)
		})
	}
	for _, typ := range []string{
		"", "Wat", "AggregateFunction(uniq, UInt64)", "Variant(String, UInt8)", "Dynamic", "JSON", "Array(", "Array)", "Array(UInt8))(", "FixedString(0)",
		"FixedString(99999999999)", "Decimal(99, 2)", "LowCardinality(Array(String))", "Tuple()", "Map(String)", strings.Repeat("Array(", 40) + "UInt8" + strings.Repeat(")", 40),
	} {
		t.Run("refused "+typ, func(t *testing.T) {
			t.Parallel()
			if l, err := parseType(typ); err == nil {
				t.Errorf("it has layout %+v", l)
			} else if asException(err).code != codeUnknownType {
				t.Errorf("got %v", err)
			}
		})
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
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := parseException(text); *got != want {
				t.Errorf("got %+v", *got)
			}
		})
	}
}

func TestBlockFramings(t *testing.T) {
	t.Parallel()
	b := &block{rows: 2, columns: []column{
		{"a", "UInt16", []byte{10, 10, 10, 10}},
		{"s", "String", []byte{1, 'x', 0}},
		{"l", "Array(LowCardinality(String))", append(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 8)...), make([]byte, 8)...)},
	}}
	for name, form := range map[string]framing{"native": native, "on the wire": onWire} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := appendBlock(nil, b, form)
			got, err := readBlock(&source{buf: data, limit: len(data)}, form)
			if err != nil || !reflect.DeepEqual(got, b) {
				t.Errorf("got %+v, %v", got, err)
			}
			for n := range data { // every truncated block must be an error
				if _, err := readBlock(&source{buf: data[:n], limit: len(data)}, form); err == nil {
					t.Errorf("the first %d of %d bytes were read as a block", n, len(data))
				}
			}
		})
	}
}
