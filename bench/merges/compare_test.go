package main

import (
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// documents parses texts in the same way as `compare`.
func documents(t *testing.T, texts ...string) []schema.Document {
	t.Helper()
	list := make([]schema.Document, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = read(text, &list[0]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestDoubled(t *testing.T) {
	t.Parallel()
	const row = "| Base | https://example.com/version/latest | gateway of the network |\n"
	const head = "| A | B | C |\n| - | - | - |\n"
	for name, c := range map[string]struct {
		base, ours, theirs, git, merged string
		double                          int
	}{
		"one text":            {"a", "a\n\nInstall the tool of today with npm now.", "a", "", "a\n\nInstall the tool of today with npm now.", 0},
		"twice":               {"a", "a\n\nInstall the tool of today with npm now.", "Install the tool of today with npm now.\n\na", "", "Install the tool of today with npm now.\n\na\n\nInstall the tool of today with npm now.", 1},
		"twice in git":        {"a", "a\n\nSee the page of npm.", "See the page of npm.\n\na", "See the page of npm.\n\na\n\nSee the page of npm.", "See the page of npm.\n\na\n\nSee the page of npm.", 0},
		"twice on a side":     {"a", "See the page of npm.\n\na\n\nSee the page of npm.", "b", "", "See the page of npm.\n\na\n\nSee the page of npm.", 0},
		"near-equal":          {"a", "a\n\nInstall the tool of today with npm now.", "a\n\nInstall the tool of today with npm then.", "", "a\n\nInstall the tool of today with npm now.\n\nInstall the tool of today with npm then.", 1},
		"near-equal in git":   {"a", "a\n\nInstall the tool of today with npm now.", "Install the tool of today with npm then.\n\na", "Install the tool of today with npm then.\n\na\n\nInstall the tool of today with npm now.", "Install the tool of today with npm then.\n\na\n\nInstall the tool of today with npm now.", 1},
		"edits of one line":   {"Install the tool of today with npm.", "Install the tool of today with npm now.", "Install the tool of today with npm then.", "", "Install the tool of today with npm now.\n\nInstall the tool of today with npm then.", 1},
		"an edit and a twin":  {"Install the tool of today with npm soon.", "Install the tool of today with npm now.", "Install the tool of today with npm soon.\n\nInstall the tool of today with npm then.", "", "Install the tool of today with npm now.\n\nInstall the tool of today with npm then.", 1},
		"edits of two lines":  {"Install the tool of today with npm, first.\n\nInstall the tool of today with npm, last.", "Install the tool of today with npm, 1st.\n\nInstall the tool of today with npm, last.", "Install the tool of today with npm, first.\n\nInstall the tool of today with npm, 2nd.", "", "Install the tool of today with npm, 1st.\n\nInstall the tool of today with npm, 2nd.", 0},
		"edits of two tables": {head + row + "\nb\n\n" + head + row[:len(row)-3] + "two |", head + row[:6] + "v1, " + row[6:] + "\nb\n\n" + head + row[:len(row)-3] + "two |", head + row + "\nb\n\n" + head + row[:6] + "v2, " + row[6:len(row)-3] + "two |", "", head + row[:6] + "v1, " + row[6:] + "\nb\n\n" + head + row[:6] + "v2, " + row[6:len(row)-3] + "two |", 0},
		"short lines":         {"a", "a\n\nOne more word", "One more word\n\na", "", "One more word\n\na\n\nOne more word", 0},
	} {
		d := documents(t, c.base, c.ours, c.theirs, c.git, c.merged)
		if double := doubled(d[0], d[1], d[2], d[3], d[4]); len(double) != c.double {
			t.Errorf("%s: %d double texts, want %d: %q", name, len(double), c.double, double)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, ours, theirs, merged string
		lost                       []string
	}{
		"nothing":               {"one two", "one 2 two", "one two three", "one 2 two three", nil},
		"an added word":         {"one two", "one new two", "one two three", "one two three", []string{"new"}},
		"an added line":         {"one", "one\n\nnew line of words", "one\n\nthree", "one\n\nthree", []string{"line", "new", "of", "words"}},
		"a word said elsewhere": {"the word", "the word\n\na new word", "the word of theirs", "the word of theirs\n\na new", []string{"word"}},
		"a deleted line":        {"one\n\nFor documentation, read this.\n\nlast", "one\n\nAll of the documentation.\n\nlast", "one\n\nAll of the documentation.\n\nFor documentation, read this.\n\nlast", "one\n\nAll of the documentation.\n\nlast", nil},
	} {
		d := documents(t, c.base, c.ours, c.theirs, c.merged)
		if lost := missing(d[0], d[1], d[2], d[3], nil); !slices.Equal(lost, c.lost) {
			t.Errorf("%s: lost %q, want %q", name, lost, c.lost)
		}
		reported := []merge.Conflict{{Ours: &d[1].Nodes[len(d[1].Nodes)-1]}}
		if lost := missing(d[0], d[1], d[2], d[3], reported); len(lost) > 0 {
			t.Errorf("%s: %q is in a conflict", name, lost)
		}
	}
}
