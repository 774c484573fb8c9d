package conversations

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Titles are short enough to be read at a glance.
const (
	maxTitle = 80
	maxLabel = 80
)

var (
	// replies are the beginnings of subjects that mail programs write.
	replies = regexp.MustCompile(`(?i)^((re|aw|wg|fwd?|tr|rv|enc|res)\s*:\s*)+`)
	// greetings open a sentence without saying anything.
	greetings = regexp.MustCompile(`(?i)^(hi|hello|hey|dear|good (morning|afternoon|evening|day)|hallo|guten (tag|morgen|abend)|moin|liebes?|lieber|sehr geehrte\S*|bonjour|bonsoir|salut|hola|` +
		`buen[oa]s (días|tardes|noches)|buenas|olá|oi|bom dia|boa (tarde|noite)|ciao|buongiorno)\b[^,.!:–—-]{0,30}[,.!:–—-]+\s*`)
	// fillers come before what somebody means to say.
	fillers = regexp.MustCompile(`(?i)^(\d{1,2}[.)]\s+|(and|but|so|also|separately|well|ok|okay|please|actually|just|again|und|aber|also|außerdem|bitte|leider|et|mais|donc|aussi|alors|y|pero|también|además|e|mas|também|quick question|` +
		`question|one more thing)\b[,:]?\s+)`)
	// varying are ids, amounts and dates, which differ between people with the same problem.
	varying = regexp.MustCompile(`\s*\(?(#\s?\w*\d\w*|\b[A-Z]{1,5}-?\d{3,}[\w-]*|\b\d{4}-\d{2,}(-\d+)*|\b[0-9a-f]{8,}\b|[€$£]\s?\d[\d.,]*|\b\d[\d.,]*\s?(€|\$|£|EUR|USD)|\b\d{5,}\b)\)?`)
	// clauses are where a sentence that is too long may end.
	clauses = regexp.MustCompile(`\s*([,;:–—]|\s-\s|\s\()\s*|。|、`)
)

// titleOf writes the title of a draft: the subject, if it says something, or the sentence of the user that says most.
func titleOf(d *draft, subject string, takesSubject bool) string {
	if takesSubject {
		if title := cleanTitle(subject); speaks(title, d.language) {
			return title
		}
	}
	type scored struct {
		title string
		score float64
	}
	best := scored{"", -1}
	for i, sentence := range d.details {
		title := cleanTitle(sentence)
		if title == "" {
			continue
		}
		score := min(float64(distinct(d.terms[i])), 6)
		if statesProblem(sentence) {
			score += 3
		}
		if length := utf8.RuneCountInString(sentence); length > 2*maxTitle {
			score -= 2
		}
		if score > best.score {
			best = scored{title, score}
		}
	}
	return cmp.Or(best.title, cleanTitle(subject), shorten(d.details[0], maxTitle))
}

// speaks reports whether a title says what is wrong, unlike "Question" or "Login".
func speaks(title, language string) bool {
	return distinct(terms(title, language)) >= 3 && (len(strings.Fields(title)) >= 2 || strings.ContainsFunc(title, withoutBlanks))
}

func distinct(terms []string) int {
	sorted := slices.Clone(terms)
	slices.Sort(sorted)
	return len(slices.Compact(sorted))
}

// cleanTitle leaves out greetings, fillers and what varies, starts with a capital letter, and ends where a thought ends.
func cleanTitle(text string) string {
	text = replies.ReplaceAllString(strings.TrimSpace(text), "")
	text = greetings.ReplaceAllString(text, "")
	for range 3 {
		text = fillers.ReplaceAllString(text, "")
	}
	text = varying.ReplaceAllString(text, "")
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer(" .", ".", " ,", ",", " ?", "?", " !", "!", "()", "").Replace(text)
	if utf8.RuneCountInString(text) > maxTitle {
		text = firstClauses(text)
	}
	text = strings.TrimSpace(strings.TrimRight(text, " .,;:!-–—。、！"))
	text = strings.TrimLeft(text, " .,;:!-–—。、！")
	first, size := utf8.DecodeRuneInString(text)
	if text == "" || first == utf8.RuneError {
		return ""
	}
	return shorten(string(unicode.ToUpper(first))+text[size:], maxTitle)
}

// firstClauses keeps as many clauses as a title has room for.
func firstClauses(text string) string {
	end := 0
	for _, at := range clauses.FindAllStringIndex(text, -1) {
		if utf8.RuneCountInString(text[:at[0]]) > maxTitle {
			break
		}
		end = at[0]
	}
	if utf8.RuneCountInString(text[:end]) < maxTitle/3 {
		return text
	}
	return text[:end]
}
