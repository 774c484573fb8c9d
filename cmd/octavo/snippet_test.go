package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/tracker"
)

// TestSnippetCommand prints the snippet of every name, and nothing else on standard output.
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

// TestSnippetCommandIsRefused: each mistake is a sentence and a hint.
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
		"site snippet s --key=opk_x":                                    {1, "is no address of Octavo", "octavo site snippet --help"},
		"site snippet s --url=https://o.example":                        {80, "--key", "octavo site snippet --help"},
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
