package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// everywhere is a word that occurs in every page.
const everywhere = "documentation"

// vocabulary is the number of different words in generated pages.
const vocabulary = 20_000

var syllables = []string{"ba", "con", "de", "fi", "gra", "ho", "in", "ka", "lo", "mer", "na", "or", "per", "qui", "ra", "sta", "ter", "un", "ver", "zo"}

// vocabularyWord returns the n-th most common word of the vocabulary.
func vocabularyWord(n int) string {
	var b strings.Builder
	for n += len(syllables); n > 0; n /= len(syllables) {
		b.WriteString(syllables[n%len(syllables)])
	}
	return b.String()
}

// wordOf draws a word. As in real texts, the frequency of words follows Zipf's law: words with a small index are drawn
// more often.
func wordOf(random *rand.Rand) string {
	return vocabularyWord(int(rand.NewZipf(random, 1.1, 4, vocabulary-1).Uint64()))
}

func words(random *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = wordOf(random)
	}
	return strings.Join(list, " ")
}

func pageTitle(i int) string {
	return fmt.Sprintf("%s %d", words(rand.New(rand.NewPCG(1, uint64(i))), 3), i)
}

// pageText returns the Markdown of the i-th page. It has about 200 words under three headings.
func pageText(i int) string {
	random := rand.New(rand.NewPCG(2, uint64(i)))
	var b strings.Builder
	for range 3 {
		fmt.Fprintf(&b, "## %s\n\n%s.\n\n%s, the **%s**.\n\n", words(random, 3), words(random, 40), words(random, 20), everywhere)
	}
	return b.String()
}
