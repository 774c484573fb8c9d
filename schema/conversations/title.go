package conversations

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the largest number of characters in a title. With this length, a title can be read at a glance.
const maxTitle = 80

var (
	// replies are the prefixes that mail programs put before subjects.
	replies = regexp.MustCompile(`(?i)^((re|aw|wg|fwd?|tr|rv|enc|res)\s*:\s*)+`)
	// greetings matches a greeting at the beginning of a text, because a greeting says nothing about the issue.
	greetings = regexp.MustCompile(`(?i)^(hi|hello|hey|dear|good (morning|afternoon|evening|day)|` +
		`hallo|guten (tag|morgen|abend)|moin|lieber?s?|sehr geehrte\S*|bonjour|bonsoir|salut|hola|` +
		`buen[oa]s (días|tardes|noches)|buenas|olá|oi|bom dia|boa (tarde|noite)|ciao|buongiorno)\b` +
		`[^,.!:–—-]{0,30}[,.!:–—-]+\s*`)
	// fillers matches words without meaning at the beginning of a sentence.
	fillers = regexp.MustCompile(`(?i)^(\d{1,2}[.)]\s+|(and|but|so|also|separately|well|ok|okay|please|` +
		`actually|just|again|quick question|question|one more thing|und|aber|außerdem|bitte|leider|et|mais|` +
		`donc|aussi|alors|y|pero|también|además|e|mas|também)\b[,:]?\s+)`)
	// varying matches ids, amounts and dates, which differ between users with the same problem.
	varying = regexp.MustCompile(`\s*\(?(#\s?\w*\d\w*|\b[A-Z]{1,5}-?\d{3,}[\w-]*|\b\d{4}-\d{2,}(-\d+)*|` +
		`\b[0-9a-f]{8,}\b|[€$£]\s?\d[\d.,]*|\b\d[\d.,]*\s?(€|\$|£|EUR|USD)|\b\d{5,}\b)\)?`)
	// clauses matches the places at which a title that is too long may end.
	clauses = regexp.MustCompile(`\s*([,;:–—]|\s-\s|\s\()\s*|。|、`)
)

// titleOf returns the title of an issue. If the subject is specific, it is the title. Otherwise the title is the user's
// most specific sentence.
func titleOf(details []string, subject, language string) string {
	title := cleanTitle(subject)
	// A subject such as "Question" or "Login" is not specific.
	if len(countTerms(terms(title, language))) >= 3 {
		return title
	}
	best, most := "", -1
	for _, sentence := range details {
		clean, score := cleanTitle(sentence), min(len(countTerms(terms(sentence, language))), 6)
		if statesProblem(sentence) {
			score += 3
		}
		if utf8.RuneCountInString(sentence) > 2*maxTitle {
			score -= 2
		}
		if clean != "" && score > most {
			best, most = clean, score
		}
	}
	return cmp.Or(best, title, shorten(details[0], maxTitle))
}

// cleanTitle removes greetings, fillers and varying parts from a text, and makes its first letter upper-case.
func cleanTitle(text string) string {
	text = greetings.ReplaceAllString(replies.ReplaceAllString(strings.TrimSpace(text), ""), "")
	for range 3 {
		text = fillers.ReplaceAllString(text, "")
	}
	text = strings.Join(strings.Fields(varying.ReplaceAllString(text, "")), " ")
	if utf8.RuneCountInString(text) > maxTitle {
		text = firstClauses(text)
	}
	text = strings.Trim(text, " .,;:!-–—。、！")
	first, size := utf8.DecodeRuneInString(text)
	if text == "" || first == utf8.RuneError {
		return ""
	}
	return shorten(string(unicode.ToUpper(first))+text[size:], maxTitle)
}

// firstClauses returns the first clauses that fit into a title. If these clauses have less than a third of maxTitle
// characters, it returns the text unchanged.
func firstClauses(text string) string {
	end := 0
	for _, at := range clauses.FindAllStringIndex(text, -1) {
		if utf8.RuneCountInString(text[:at[0]]) <= maxTitle {
			end = at[0]
		}
	}
	if utf8.RuneCountInString(text[:end]) < maxTitle/3 {
		return text
	}
	return text[:end]
}
