package conversations

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

var (
	fences   = regexp.MustCompile("(?s)(```|~~~).*?(```|~~~|$)")
	markup   = regexp.MustCompile(`(?i)<(/?[a-z][a-z0-9]*\b[^<>]*|!--.*?--)>`)
	links    = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)`)
	address  = regexp.MustCompile(`(?i)\b(?:https?://|www\.)\S+|\S+@\S+\.\S+`)
	emphasis = strings.NewReplacer("**", "", "__", "", "`", "")
	// sentFrom matches the lines that mail programs of phones add.
	sentFrom = regexp.MustCompile(`(?i)^(sent from (my|the) |sent via |get outlook for |` +
		`(von meinem .* |mit der .* )gesendet|gesendet (von meine|mit )|` +
		`envoyé (de|depuis) (mon|ma) |enviado desde (mi|el) |enviado (do|a partir do) meu |` +
		`inviato da(l mio)? |verzonden vanaf mijn )|から送信$`)
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)|[。！？]`)
)

// signature is the line that mail programs write directly before a signature.
const signature = "-- "

// plain returns the user's own text in a body: without markup, code, addresses, quoted replies and signatures.
func plain(body string) string {
	// Quoted lines are removed first, because the character > before them would be read as the end of a tag.
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
		text = withoutTags(text)
	} else {
		text = html.UnescapeString(text)
	}
	return emphasis.Replace(address.ReplaceAllString(links.ReplaceAllString(text, " $1"), " "))
}

var (
	blockTags  = strings.Fields("p div li h1 h2 h3 h4 h5 h6 tr blockquote br")
	hiddenTags = strings.Fields("script style iframe noembed noframes noscript")
)

// withoutTags returns the text of HTML. For each tag of a block, it writes a line break.
func withoutTags(source string) string {
	var text strings.Builder
	hidden, tokenizer := false, html.NewTokenizer(strings.NewReader(source))
	for {
		switch kind := tokenizer.Next(); kind {
		case html.ErrorToken: // the text has ended, because reading from a string never fails
			return text.String()
		case html.TextToken:
			if !hidden {
				text.Write(tokenizer.Text())
			}
		default:
			name, _ := tokenizer.TagName()
			// the tokenizer returns the content of a hidden element as one text token
			hidden = kind != html.EndTagToken && slices.Contains(hiddenTags, string(name))
			blank := byte(' ')
			if slices.Contains(blockTags, string(name)) {
				blank = '\n'
			}
			text.WriteByte(blank)
		}
	}
}

// sentences splits plain text at the ends of sentences and of lines. A full stop inside a number or a name does not end
// a sentence. Sentences without words are left out.
func sentences(text string) (found []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#*-•+ \t")
		for line != "" {
			end := len(line)
			if at := sentenceEnd.FindStringIndex(line); at != nil {
				end = at[1]
			}
			if sentence := strings.Join(strings.Fields(line[:end]), " "); strings.ContainsFunc(sentence, isWord) {
				found = append(found, sentence)
			}
			line = line[end:]
		}
	}
	return found
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// shorten cuts a text to at most `most` characters. If possible, it cuts at the end of a word.
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
