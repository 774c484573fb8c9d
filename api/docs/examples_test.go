package docs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

var record = flag.Bool("record", false, "write examples.json instead of comparing with it")

// recorded is an entry of examples.json.
type recorded struct {
	Query  string          `json:"query,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Form   string          `json:"form,omitempty"`
	Status int             `json:"status"`
	Media  string          `json:"media,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Left is the number of entries that are omitted from the list in the answer.
	Left int `json:"left,omitempty"`
}

// TestExamples calls each operation with its example from package apitest. It compares the request and the answer with
// examples.json, or writes this file with -record. It first replaces ids, times and secrets by fixed values.
func TestExamples(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	got := map[string]recorded{}
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		got[op.ID] = call(h, op)
	})
	if !all {
		return
	}
	var text bytes.Buffer
	text.WriteString("{\n")
	for i := range h.Table {
		id := h.Table[i].ID
		var entry bytes.Buffer
		encoder := json.NewEncoder(&entry)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(got[id]); err != nil {
			t.Fatal(err)
		}
		end := ",\n"
		if i == len(h.Table)-1 {
			end = "\n"
		}
		fmt.Fprintf(&text, "%q: %s%s", id, bytes.TrimSpace(entry.Bytes()), end)
	}
	text.WriteString("}\n")
	const file = "examples.json"
	if *record {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(have), "\n"), strings.Split(text.String(), "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Errorf("%s is stale (go test ./api/docs -run TestExamples -record):\n%s\n%s", file, was[i], is[i])
		}
	}
	if len(was) != len(is) {
		t.Errorf("%s has %d lines, want %d", file, len(was), len(is))
	}
}

// call sends the example request of an operation as an admin of our organization.
func call(h *apitest.Harness, op *frame.Operation) recorded {
	path, body := h.Example(op, h.Ours)
	a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body)
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	steady := steadier(op, path)
	entry := recorded{Status: a.Status, Media: media}
	if _, query, found := strings.Cut(path, "?"); found {
		entry.Query = steady(query)
	}
	switch b := body.(type) {
	case string:
		entry.Body = json.RawMessage(steady(b))
	case apitest.Form:
		entry.Form = steady(b.Body)
	}
	if media == "application/json" {
		entry.Answer, entry.Left = shortened(h.T, []byte(steady(string(a.Body))))
	}
	return entry
}

// shortened returns a list's first entry and the number of its other entries.
func shortened(t testing.TB, answer []byte) (json.RawMessage, int) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(answer, &list) != nil || len(list.Items) < 2 {
		return answer, 0
	}
	all, err := json.Marshal(list.Items)
	if err != nil {
		t.Fatal(err)
	}
	first := append(append([]byte("["), list.Items[0]...), ']')
	short := bytes.Replace(answer, all, first, 1)
	if bytes.Equal(short, answer) {
		t.Fatalf("no list in %s", answer)
	}
	return short, len(list.Items) - 1
}

// varying has patterns of texts that differ in each run, with the text that replaces them.
var varying = []struct {
	form  *regexp.Regexp
	stand string
}{
	{regexp.MustCompile(`SAMLResponse=[^&]*`), "SAMLResponse=PHNhbWxwOlJlc3BvbnNl…"},
	{regexp.MustCompile(`whsec_[^"]*`), "whsec_…"},
	{regexp.MustCompile(`((?:\b[a-z]{3,6}_)*)[0-9A-Za-z_-]{32,}`), "${1}0123456789abcdef…"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-11-26T09:41:00.000Z"},
	{regexp.MustCompile(`expires=\d+`), "expires=1795686060"},
	{regexp.MustCompile(`"id":"\d+"`), `"id":"1024"`},
}

var (
	idForm      = regexp.MustCompile(`[0-9a-v]{26,27}`)
	quotedParam = regexp.MustCompile(`\\\{[^}]*\\\}`)
)

// steadier returns a function that replaces values that differ in each run. It replaces the value of a path parameter
// by the parameter's name in capitals.
func steadier(op *frame.Operation, path string) func(string) string {
	path, _, _ = strings.Cut(path, "?")
	pattern := quotedParam.ReplaceAllString(regexp.QuoteMeta(op.Route()), "(.*?)")
	names := frame.PathParam.FindAllStringSubmatch(op.Path, -1)
	values := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(path)
	var pairs []string
	for i, name := range names {
		if len(values) > i+1 && len(values[i+1]) > 7 {
			pairs = append(pairs, values[i+1], capitals(name[1]))
		}
	}
	named := strings.NewReplacer(pairs...)
	var seen []string
	return func(text string) string {
		for _, row := range varying {
			text = row.form.ReplaceAllString(text, row.stand)
		}
		text = named.Replace(text)
		return idForm.ReplaceAllStringFunc(text, func(id string) string {
			at := slices.Index(seen, id)
			if at < 0 {
				at, seen = len(seen), append(seen, id)
			}
			sum := sha256.Sum256(fmt.Append(nil, op.ID, at))
			return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:26]
		})
	}
}

// capitals returns a name in capitals, such as SITE_SPACE_ID for siteSpaceId.
func capitals(name string) string {
	return strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}
