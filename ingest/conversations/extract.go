package conversations

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Limits per conversation, so that no single one can flood an organization.
const (
	maxSentences  = 1000
	maxIssues     = 5
	maxDetails    = 40
	maxSentence   = 1000
	maxIssueWords = 200
	// leastWords is how many terms a sentence needs to open another issue, and mostPolite how many a courtesy has
	// besides its phrase.
	leastWords = 2
	mostPolite = 6
)

// Part is one message of a conversation; Body is Markdown or HTML.
type Part struct {
	Role string
	Body string
}

// Conversation is what Extract finds issues in.
type Conversation struct {
	Subject string
	Parts   []Part
}

// Issue is one thing that a user struggles with.
type Issue struct {
	Title string
	// Details are the user's sentences about it, in their order.
	Details []string
	Impact  schema.Impact
	// Language is that of the user, empty if it is not known.
	Language string
	// Words are the terms of what it is about, for an analysis.
	Words []string
}

// Extract finds the issues of a conversation. All that a user tells is one issue, unless a sentence turns to something
// else and shares nothing with what was said before. A conversation of nothing but courtesies has none. The words of
// the others are not looked at.
func Extract(c Conversation) (issues []Issue) {
	subject := strings.Join(strings.Fields(plain(c.Subject)), " ")
	if hasCue(subject, "automatic") {
		return nil
	}
	said := userSentences(c)
	if len(said) == 0 && subject != "" {
		said = []string{subject}
	}
	language := languageOf(subject + "\n" + strings.Join(said, "\n"))
	current := &draft{known: map[string]bool{}}
	drafts := []*draft{current}
	for _, sentence := range said {
		about := terms(sentence, language)
		if len(about) == 0 {
			continue
		}
		if len(about) >= leastWords && len(drafts) < maxIssues && hasCue(sentence, "turn") && !current.shares(about) {
			current = &draft{known: map[string]bool{}}
			drafts = append(drafts, current)
		}
		current.add(sentence, about)
	}
	if courteous(strings.Join(said, "\n"), language) {
		return nil
	}
	for i, d := range drafts {
		if len(d.details) == 0 {
			continue
		}
		about := d.terms
		if i == 0 {
			// The subject is what matters most to the writer.
			about = append(terms(subject, language), about...)
		} else {
			subject = ""
		}
		issues = append(issues, Issue{
			Title: titleOf(d.details, subject, language), Details: d.details, Impact: impactOf(d.details, d.known),
			Language: language, Words: about[:min(len(about), maxIssueWords)],
		})
	}
	return issues
}

func userSentences(c Conversation) (said []string) {
	for _, part := range c.Parts {
		if part.Role != schema.RolePartUser {
			continue
		}
		for _, sentence := range sentences(plain(part.Body)) {
			if len(said) == maxSentences {
				return said
			}
			said = append(said, shorten(sentence, maxSentence))
		}
	}
	return said
}

// draft is an issue that sentences are still added to.
type draft struct {
	details, terms []string
	known          map[string]bool
}

func (d *draft) add(sentence string, about []string) {
	if len(d.details) < maxDetails {
		d.details, d.terms = append(d.details, sentence), append(d.terms, about...)
	}
	for _, term := range about {
		d.known[term] = true
	}
}

func (d *draft) shares(about []string) bool {
	shared := 0
	for _, term := range about {
		if d.known[term] {
			shared++
		}
	}
	return len(d.known) == 0 || shared*3 > len(about)
}

// courteous reports whether a text has only thanks, greetings or news that all is well: it names nothing of the
// lexicon.
func courteous(text, language string) bool {
	rest, found := without(text, "courtesy")
	if !found || strings.ContainsAny(text, "?？") || hasCue(rest, "trouble", "blocking", "request") {
		return false
	}
	about := countTerms(terms(rest, language))
	delete(about, thingMark+"member")
	for term := range about {
		if strings.HasPrefix(term, thingMark) {
			return false
		}
	}
	return len(about) <= mostPolite
}

// statesProblem reports whether a sentence is a complaint or a question.
func statesProblem(sentence string) bool {
	return hasCue(sentence, "trouble", "blocking") || strings.ContainsAny(sentence, "?？")
}

// Things that block people by themselves, and pairs of things that do.
var (
	severe    = []string{"locked", "lost", "crash", "outage", "security", "overwrite", "decline"}
	severeTwo = [][2]string{
		{"duplicate", "charge"}, {"duplicate", "pay"}, {"private", "guest"}, {"private", "access"}, {"login", "loop"},
	}
)

// impactOf is high if somebody is blocked, low for a question or a wish, and else medium.
func impactOf(details []string, about map[string]bool) schema.Impact {
	text := strings.Join(details, "\n")
	thing := func(name string) bool { return about[thingMark+name] }
	two := func(names [2]string) bool { return thing(names[0]) && thing(names[1]) }
	switch {
	case hasCue(text, "blocking"), slices.ContainsFunc(severe, thing), slices.ContainsFunc(severeTwo, two):
		return schema.ImpactHigh
	case hasCue(text, "wish") && !hasCue(text, "trouble"):
		return schema.ImpactLow
	}
	return schema.ImpactMedium
}

// ImpactOf is the highest impact that at least half of the issues of a cluster reach. high and medium count the issues
// with at least that impact.
func ImpactOf(issues, high, medium int) schema.Impact {
	switch {
	case 2*high >= issues && issues > 0:
		return schema.ImpactHigh
	case 2*medium >= issues && issues > 0:
		return schema.ImpactMedium
	}
	return schema.ImpactLow
}
