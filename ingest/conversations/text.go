package conversations

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/microcosm-cc/bluemonday"
)

// tags removes all tags, and scripts and styles with their contents. It is safe for concurrent use.
var tags = bluemonday.StrictPolicy().AddSpaceWhenStrippingTag(true)

var (
	fences   = regexp.MustCompile("(?s)(```|~~~).*?(```|~~~|$)")
	markup   = regexp.MustCompile(`(?i)<(/?[a-z][a-z0-9]*\b[^<>]*|!--.*?--)>`)
	blockEnd = regexp.MustCompile(`(?i)<(/p|/div|/li|/h[1-6]|/tr|/blockquote|br\s*/?)>`)
	images   = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	links    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	address  = regexp.MustCompile(`(?i)\b(?:https?://|www\.)\S+|\S+@\S+\.\S+`)
	emphasis = strings.NewReplacer("**", "", "__", "", "`", "")
	// sentFrom is what mail programs of telephones add.
	sentFrom = regexp.MustCompile(`(?i)^(sent from (my|the) |sent via |get outlook for |(von meinem .* |mit der .* )gesendet|gesendet (von meine|mit )|` +
		`envoyé (de|depuis) (mon|ma) |enviado desde (mi|el) |enviado (do|a partir do) meu |inviato da(l mio)? |verzonden vanaf mijn )|から送信$`)
)

// signature is the line before a signature, as mail programs write it.
const signature = "-- "

// plain gives the words that the writer of a body meant: no markup, no code, no addresses, no quoted replies, no signatures.
func plain(body string) string {
	// Remove quoted lines first: their > would look like a tag's.
	var kept []string
	for line := range strings.Lines(fences.ReplaceAllString(body, " ")) {
		line = strings.TrimRight(line, "\r\n")
		if line == signature {
			break
		}
		if words := strings.TrimSpace(line); !strings.HasPrefix(words, ">") && !sentFrom.MatchString(words) {
			kept = append(kept, line)
		}
	}
	text := strings.Join(kept, "\n")
	if markup.MatchString(text) {
		text = blockEnd.ReplaceAllString(text, "$0\n")
		text = tags.Sanitize(text)
	}
	text = html.UnescapeString(text)
	text = images.ReplaceAllString(text, " ")
	text = links.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, " ")
	return emphasis.Replace(text)
}

// sentences splits plain text at the ends of sentences and of lines. A full stop inside a number or a name ends nothing.
func sentences(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#*-•+ \t")
		runes := []rune(line)
		start := 0
		for i, r := range runes {
			wide := strings.ContainsRune("。！？", r)
			last := i+1 == len(runes) || unicode.IsSpace(runes[i+1])
			if wide || (strings.ContainsRune(".!?", r) && last) {
				found = appendSentence(found, string(runes[start:i+1]))
				start = i + 1
			}
		}
		found = appendSentence(found, string(runes[start:]))
	}
	return found
}

// appendSentence skips sentences without words.
func appendSentence(found []string, sentence string) []string {
	sentence = strings.Join(strings.Fields(sentence), " ")
	if !strings.ContainsFunc(sentence, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return found
	}
	return append(found, sentence)
}

// shorten cuts a text to a number of characters, if possible at the end of a word.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most-1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}
