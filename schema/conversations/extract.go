package conversations

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// These constants bound what is read of a conversation, so that a single conversation cannot flood an organization with
// issues.
const (
	maxSentences  = 1000
	maxIssues     = 5
	maxDetails    = 40
	maxSentence   = 1000
	maxIssueWords = 200
	// leastTurn is the least number of terms in a sentence that begins another issue.
	leastTurn = 2
)

// Part is one message of a conversation. Body is Markdown or HTML.
type Part struct{ Role, Body string }

// Conversation is the input of Extract.
type Conversation struct {
	Subject string
	Parts   []Part
}

// Issue is one problem of a user.
type Issue struct {
	Title string
	// Details has the user's sentences about the problem, in order.
	Details []string
	Impact  schema.Impact
	// Language is the user's language. It is empty if the language is unknown.
	Language string
	// Words has the issue's terms. An analysis compares issues by these terms.
	Words []string
}

// Extract finds the issues of a conversation. A new issue begins with a sentence that changes the topic and shares few
// terms with the previous sentences of the issue. All other sentences continue the issue. Thanks and good news are not
// issues. Extract reads only the user's messages.
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
	current, settled := &draft{known: map[string]bool{}}, false
	drafts := []*draft{current}
	for _, sentence := range said {
		if hasCue(sentence, "settled") && !hasCue(withoutCues(sentence, "aside"), "unsettled") {
			settled = true
			continue
		}
		about := terms(sentence, language)
		if len(about) >= leastTurn && len(drafts) < maxIssues && hasCue(sentence, "turn") && !current.shares(about) {
			current = &draft{known: map[string]bool{}}
			drafts = append(drafts, current)
		}
		current.add(sentence, about)
	}
	for i, d := range drafts {
		meant := slices.DeleteFunc(slices.Clone(d.details), func(s string) bool { return courteous(s, language) })
		if len(meant) == 0 || settled && !slices.ContainsFunc(meant, statesProblem) {
			continue
		}
		about, title := d.terms, ""
		if i == 0 {
			// A user writes the most important thing into the subject, so the terms of the subject come first.
			about, title = append(terms(subject, language), about...), subject
		}
		issues = append(issues, Issue{
			Title: titleOf(d.details, title, language), Details: d.details, Impact: impactOf(d.details, d.known),
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
			said = append(said, shorten(sentence, maxSentence))
		}
	}
	return said[:min(len(said), maxSentences)]
}

// draft is an issue to which more sentences may be added.
type draft struct {
	details, terms []string
	known          map[string]bool
}

// add adds a sentence to the draft. It ignores a sentence without terms.
func (d *draft) add(sentence string, about []string) {
	if len(about) > 0 && len(d.details) < maxDetails {
		d.details, d.terms = append(d.details, sentence), append(d.terms, about...)
	}
	for _, term := range about {
		d.known[term] = true
	}
}

// shares reports whether more than a third of a sentence's terms are already in the draft.
func (d *draft) shares(about []string) bool {
	shared := 0
	for _, term := range about {
		if d.known[term] {
			shared++
		}
	}
	return len(d.known) == 0 || shared*3 > len(about)
}

// courteous reports whether a sentence contains only thanks, praise or a goodbye. Such a sentence states no problem,
// and has only polite words and names of people. If it has a polite phrase, it may also have one other word.
func courteous(sentence, language string) bool {
	rest := withoutCues(sentence, "courtesy")
	if statesProblem(rest) {
		return false
	}
	others := map[string]bool{}
	for _, word := range tokens(rest) {
		if theLexicon().polite[word] {
			continue
		}
		for _, term := range terms(word, language) {
			if strings.HasPrefix(term, thingMark) && term != thingMark+"member" {
				return false
			}
			others[term] = true
		}
	}
	delete(others, thingMark+"member")
	cued, asks := rest != cueText(sentence), strings.ContainsAny(sentence, "?？")
	return len(others) == 0 && (cued || !asks) || len(others) == 1 && cued && !asks
}

// statesProblem reports whether a sentence is a complaint or a question.
func statesProblem(sentence string) bool {
	return hasCue(sentence, "trouble", "blocking") || strings.ContainsAny(sentence, "?？")
}

// An issue blocks the user if it is about one of the things in `severe`, or about both things of a pair in `severeTwo`.
// The text need not say that the user is blocked.
var (
	severe    = []string{"locked", "lost", "crash", "outage", "security", "overwrite", "decline"}
	severeTwo = [][2]string{
		{"duplicate", "charge"}, {"duplicate", "pay"}, {"private", "guest"}, {"private", "access"}, {"login", "loop"},
		{"webhook", "outage"},
	}
)

// impactOf returns the impact of an issue. The impact is high if the user is blocked and mentions no workaround. It is
// low if the issue is a question or a wish. Otherwise it is medium.
func impactOf(details []string, about map[string]bool) schema.Impact {
	text := strings.Join(details, "\n")
	has := func(name string) bool { return about[thingMark+name] }
	hasTwo := func(names [2]string) bool { return has(names[0]) && has(names[1]) }
	blocked := hasCue(text, "blocking") || slices.ContainsFunc(severe, has) || slices.ContainsFunc(severeTwo, hasTwo)
	switch {
	case blocked && !hasCue(text, "workaround"):
		return schema.ImpactHigh
	case !blocked && hasCue(text, "wish") && !hasCue(text, "trouble"):
		return schema.ImpactLow
	}
	return schema.ImpactMedium
}

// ImpactOf returns the impact of a cluster. It is the highest impact that at least half of the cluster's issues have or
// exceed. `high` is the number of issues with a high impact, and `medium` is the number of issues with at least a
// medium impact.
func ImpactOf(issues, high, medium int) schema.Impact {
	switch {
	case 2*high >= issues && issues > 0:
		return schema.ImpactHigh
	case 2*medium >= issues && issues > 0:
		return schema.ImpactMedium
	}
	return schema.ImpactLow
}
