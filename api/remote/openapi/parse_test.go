package openapi

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const head = `"info":{"title":"A","version":"1"}`

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"json":    {`{ "openapi": "3.0.3", ` + head + `, "paths": {} }`, `{"openapi":"3.0.3",` + head + `,"paths":{}}`},
		"swagger": {`{"swagger":"2.0",` + head + `,"paths":{}}`, `{"swagger":"2.0",` + head + `,"paths":{}}`},
		"3.1":     {`{"openapi":"3.1.0",` + head + `,"components":{"schemas":{"A":{"type":["string","null"],"$defs":{"B":true}},"C":{"$ref":"#/components/schemas/A/$defs/B"}}}}`, ""},
		"yaml": {"# c\nopenapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: 2020-01-01}\n",
			`{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"2020-01-01"}}}}}}`},
		"flow yaml": {"{openapi: 3.1.0, info: {title: A, version: '1'}, paths: {}, x-n: [1.10, 0x10, 1e3, .inf, yes, true, ~, 010]}",
			`{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{},"x-n":[1.10,16,1e3,".inf","yes",true,null,10]}`},
		"aliases": {"openapi: 3.0.0\ninfo: &i {title: A, version: '1'}\npaths: {}\nx-i: *i\nx-m: {<<: [*i, {z: 1}], title: B}\n",
			`{"openapi":"3.0.0","info":{"title":"A","version":"1"},"paths":{},"x-i":{"title":"A","version":"1"},"x-m":{"title":"B","version":"1","z":1}}`},
		"order":                  {`{"paths":{},"openapi":"3.0.0",` + head + `,"b":1,"a":2}`, `{"paths":{},"openapi":"3.0.0",` + head + `,"b":1,"a":2}`},
		"escaped pointer":        {`{"openapi":"3.0.0",` + head + `,"paths":{"/a b/{c}":{"get":{"responses":{}}},"/d":{"$ref":"#/paths/~1a%20b~1%7Bc%7D"}}}`, ""},
		"data is no reference":   {`{"openapi":"3.0.0",` + head + `,"paths":{"/a":{"get":{"responses":{},"parameters":[{"name":"a","in":"query","schema":{"example":{"$ref":"elsewhere"},"default":{"$ref":5}}}]}}},"x-a":{"$ref":"b"}}`, ""},
		"a property called $ref": {`{"openapi":"3.0.0",` + head + `,"paths":{},"components":{"schemas":{"A":{"properties":{"$ref":{"type":"string"}}}}}}`, ""},
	} {
		got, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if test.want != "" && string(got) != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	bomb := "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {}\nx0: &x0 [a,a,a,a,a,a,a,a,a,a]\n"
	merges := "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {}\nx0: &x0 {a: 1}\n"
	for i := range 12 {
		d, n := string(rune('a'+i)), string(rune('a'+i+1))
		if i == 0 {
			d = "x0"
		}
		bomb += n + ": &" + n + " [" + strings.TrimSuffix(strings.Repeat("*"+d+",", 10), ",") + "]\n"
		merges += n + ": &" + n + " {<<: [" + strings.TrimSuffix(strings.Repeat("*"+d+",", 10), ",") + "]}\n"
	}
	for text, want := range map[string]string{
		"":                           "is empty",
		"{":                          "line 1, column 2: is not valid JSON",
		"{\n  \"a\": 1,\n  \"b\" 2}": "line 3, column 7",
		`{"a":1,"a":2}`:              "line 1, column 8: has a member twice",
		`{"a":1} {}`:                 "goes on after its end",
		"a: b: c":                    "no valid YAML",
		"a: 1\na: 2":                 "line 2, column 1: has a member twice",
		"[1]: 2":                     "whose name is no text",
		"just text":                  "must be an object, as OpenAPI documents are, and is a string",
		"openapi: 4.0.0":             "must say openapi",
		"swagger: 2.0":               "must say openapi",
		"openapi: 3.0.0":             "line 1, column 1 (#): info is missing, and 1 more",
		`{"openapi":"3.0.0","info":{"title":"A","version":1},"paths":{}}`:                                             "(#/info/version): must be a string, and is a number: YAML wants quotes",
		`{"openapi":"3.0.0",` + head + `}`:                                                                            "paths is missing",
		`{"openapi":"3.0.0",` + head + `,"components":{}}`:                                                            "paths is missing",
		`{"openapi":"3.0.0",` + head + `,"paths":[]}`:                                                                 "(#/paths): must be an object, and is an array",
		`{"openapi":"3.0.0",` + head + `,"paths":{"a":{}}}`:                                                           `(#/paths/a): "a" is no path, which starts with a slash`,
		`{"openapi":"3.0.0",` + head + `,"paths":{"\u0000":{}}}`:                                                      "(#/paths/\ufffd): ",
		`{"openapi":"3.0.0",` + head + `,"paths":{"/a":{"get":1}}}`:                                                   `(#/paths/~1a/get): must be an object, and is a number`,
		`{"openapi":"3.0.0",` + head + `,"paths":{"/a":{"$ref":"https://a.example/b"}}}`:                              "another document",
		`{"openapi":"3.0.0",` + head + `,"paths":{"/a":{"$ref":"#/paths/~1b"}}}`:                                      "which is not there",
		`{"openapi":"3.0.0",` + head + `,"paths":{},"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`: "nested deeper",
		strings.Repeat("[", 300) + strings.Repeat("]", 300):                                                           "nested deeper",
		strings.Repeat(" ", MaxText+1):                                                                                "larger than 4 MiB",
		bomb:                                                                                                          "aliases",
		merges:                                                                                                        "aliases",
		"a: &a {<<: *a}":                                                                                              "nested deeper",
		"a: &a [*a]":                                                                                                  "nested deeper",
		"a: \"\xff\"":                                                                                                 "no valid YAML",
	} {
		document, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q; %.80s", text, err, want, document)
		}
	}
}

// FuzzParse checks that every input is refused, or becomes JSON. If the JSON is read again, it gives the same value.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"openapi":"3.0.0",` + head + `,"paths":{"/a":{"get":{"$ref":"#/paths/~1a"}}}}`, "openapi: 3.1.0\ninfo: &a {title: A, version: '1'}\npaths: {<<: *a}",
		"a: &a [*a]", "{", "%YAML 1.1\n--- !!map {}\n", "? [a]\n: b", "- !!binary aGk=", "\ufeff{}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := Parse(text)
		if err != nil {
			return
		}
		if !jsontext.Value(document).IsValid() {
			t.Fatalf("%q became %q", text, document)
		}
		again, err := Parse(string(document))
		if err != nil || string(again) != string(document) {
			t.Fatalf("%q became %q and then %q, %v", text, document, again, err)
		}
	})
}
