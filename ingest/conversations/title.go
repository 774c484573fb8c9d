package conversations

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle bounds titles, so that they are read at a glance.
const maxTitle = 80

var (
	// replies are the beginnings of subjects that mail programs write.
	replies = regexp.MustCompile(`(?i)^((re|aw|wg|fwd?|tr|rv|enc|res)\s*:\s*)+`)
	// greetings open a sentence without saying anything.
	greetings = regexp.MustCompile(`(?i)^(hi|hello|hey|dear|good (morning|afternoon|evening|day)|hallo|guten (tag|morgen|abend)|` +
		`moin|lieber?s?|sehr geehrte\S*|bonjour|bonsoir|salut|hola|buen[oa]s (días|tardes|noches)|buenas|olá|oi|bom dia|` +
		`boa (tarde|noite)|ciao|buongiorno)\b[^,.!:–—-]{0,30}[,.!:–—-]+\s*`)
	// fillers come before what somebody means to say.
	fillers = regexp.MustCompile(`(?i)^(\d{1,2}[.)]\s+|(and|but|so|also|separately|well|ok|okay|please|actually|just|again|` +
		`question|quick question|one more thing|und|aber|außerdem|bitte|leider|et|mais|donc|aussi|alors|y|pero|también|además|` +
		`e|mas|também)\b[,:]?\s+)`)
)

// titleOf writes the title of an issue: the subject, if it says something, or the sentence of the user that says most.
func titleOf(details []string, subject, language string) string {
	title := cleanTitle(subject)
	// "Question" or "Login" says nothing.
	if len(countTerms(terms(title, language))) >= 3 {
		return title
	}
	best, most := "", -1
	for _, sentence := range details {
		clean := cleanTitle(sentence)
		if clean == "" {
			continue
		}
		score := min(len(countTerms(terms(sentence, language))), 6)
		if statesProblem(sentence) {
			score += 3
		}
		if utf8.RuneCountInString(sentence) > 2*maxTitle {
			score -= 2
		}
		if score > most {
			best, most = clean, score
		}
	}
	return cmp.Or(best, title, shorten(details[0], maxTitle))
}

// cleanTitle leaves out greetings and fillers, and starts with a capital letter.
func cleanTitle(text string) string {
	text = replies.ReplaceAllString(strings.TrimSpace(text), "")
	text = greetings.ReplaceAllString(text, "")
	for range 3 {
		text = fillers.ReplaceAllString(text, "")
	}
	text = strings.Trim(strings.TrimRight(strings.Join(strings.Fields(text), " "), "!"), " .,;:-–—。、！")
	first, size := utf8.DecodeRuneInString(text)
	if text == "" || first == utf8.RuneError {
		return ""
	}
	return shorten(string(unicode.ToUpper(first))+text[size:], maxTitle)
}
