package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/frontmatter"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// compare merges three versions of a file with git and with Octavo, and counts how the results differ.
func (r *repository) compare(ctx context.Context, name string, v [3]string) error {
	text, conflicts, err := mergeFile(ctx, v)
	if err != nil {
		return err
	}
	var d [4]schema.Document
	for i, text := range append(v[:], text) {
		if d[i], err = read(text, &d[0]); err != nil {
			return err
		}
	}
	merged, found := merge.Documents(d[0], d[1], d[2], nil)
	note := func(column string, details any) {
		if r.count[column]++; r.Verbose {
			fmt.Printf("  %s: %s: %.1000v\n", column, name, details)
		}
	}
	switch {
	case conflicts && len(found) > 0:
		r.count["both"]++
	case conflicts:
		note("better", "")
	case len(found) > 0:
		note("worse", encoded(found))
	case slices.Equal(words(d[3]), words(merged)):
		r.count["same"]++
	default:
		note("other", "")
	}
	if lost := missing(d[0], d[1], d[2], merged, found); len(lost) > 0 {
		note("lost", lost)
	}
	clean := schema.Document{} // result of git, if git has no conflict
	if !conflicts {
		clean = d[3]
	}
	if double := doubled(d[0], d[1], d[2], clean, merged); len(double) > 0 {
		note("double", double)
	}
	return nil
}

func read(text string, before *schema.Document) (schema.Document, error) {
	_, body, err := frontmatter.Split(text)
	if err != nil {
		body = text
	}
	d, err := markdown.Read(body)
	if err == nil {
		keys.Assign(&d, before)
	}
	return d, err
}

func words(d schema.Document) []string { return slices.Collect(wordsOf(content.Plain(d))) }

// wordsOf returns the words of a text. A word is a sequence of letters, digits and marks. In a script without spaces,
// each letter is a word.
func wordsOf(text string) iter.Seq[string] {
	spaced := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return ' '
	}, unspaced.ReplaceAllString(text, " $0 "))
	return strings.FieldsSeq(spaced)
}

var unspaced = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]`)

func joined(a, b map[string]int) map[string]int {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// similar reports whether most words of two lines are the same.
func similar(a, b string) bool {
	const most = 0.75
	return shared(a, b) >= most
}

// shared returns the number of words that both lines have, divided by the number of words that at least one line has.
func shared(a, b string) float64 {
	x, y := map[string]int{}, map[string]int{}
	for word := range wordsOf(a) {
		x[word]++
	}
	for word := range wordsOf(b) {
		y[word]++
	}
	common, all := 0, 0
	for word := range joined(x, y) {
		common, all = common+min(x[word], y[word]), all+max(x[word], y[word])
	}
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}

func encoded(found []merge.Conflict) string {
	text, err := json.Marshal(found, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	return string(text)
}
