package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSnippetCommand prints the snippet of every name. Standard output has only the snippet.
func TestSnippetCommand(t *testing.T) {
	t.Parallel()
	for _, name := range tracker.Names() {
		var out, say bytes.Buffer
		c := SnippetCmd{Site: "s1", For: name, Key: "opk_abc", URL: "https://octavo.example.com"}
		if err := c.print(&out, &say); err != nil {
			t.Fatal(err)
		}
		want, err := tracker.Snippet(name, tracker.Site{Base: c.URL, Key: c.Key})
		if err != nil || out.String() != want || !strings.Contains(say.String(), "site s1") {
			t.Errorf("%s: %v %q %q", name, err, &out, &say)
		}
	}
}

// TestSnippetCommandIsRefused checks that the command prints a sentence and a hint for each mistake.
func TestSnippetCommandIsRefused(t *testing.T) {
	t.Setenv("OCTAVO_PUBLIC_URL", "")
	t.Setenv("OCTAVO_URL", "")
	for arguments, want := range map[string]struct {
		code        int
		words, hint string
	}{
		"site snippet s --key=opk_x --url=https://o.example --for=word": {1, `"word" is no known kind of site`, "--for takes html, docusaurus, "},
		"site snippet s --key=gb_x --url=https://o.example":             {1, `"gb_x" is no publishable key`, "octavo site snippet --help"},
		"site snippet s --key=opk_x --url=o.example":                    {1, `"o.example" is no address of Octavo`, "octavo site snippet --help"},
		"site snippet s --data-dir=/nowhere --url=https://o.example":    {1, "no data", "octavo serve creates the data"},
	} {
		var stderr bytes.Buffer
		code := run(strings.Fields(arguments), &stderr)
		lines := strings.Split(stderr.String(), "\n")
		if code != want.code || len(lines) != 3 ||
			!strings.Contains(lines[0], want.words) || !strings.HasPrefix(lines[1], "hint: "+want.hint) {
			t.Errorf("octavo %s: %d\n%s", arguments, code, &stderr)
		}
	}
}

// TestNewestKey finds the newest publishable key of a site, in its present generation. The errors name the missing
// objects.
func TestNewestKey(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "t")
	site := tenant.Site.ID
	if _, err := newestKey(t.Context(), st, "nowhere"); !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("an unknown site: %v", err)
	}
	if _, err := newestKey(t.Context(), st, site); !errors.Is(err, errNoPublishableKey) {
		t.Errorf("a site without keys: %v", err)
	}
	var last string
	for _, name := range []string{"a", "b"} {
		row, err := st.Sites.CreatePublishableKey(t.Context(), site, sites.NewPublishableKey{
			Name: name, Hosts: []string{"docs.example.com"}, DailyCap: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		last = row.ID
	}
	if _, err := st.Sites.RotatePublishableKey(t.Context(), site, last, time.Now()); err != nil {
		t.Fatal(err)
	}
	secret, err := access.NewKeySecret(st).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := newestKey(t.Context(), st, site)
	if err != nil {
		t.Fatal(err)
	}
	if id, generation, made := schema.ReadPublishableKey(secret, text); id != last || generation != 2 || !made {
		t.Errorf("the key is %s in generation %d, made here: %t", id, generation, made)
	}
}
