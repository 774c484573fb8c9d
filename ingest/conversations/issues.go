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
	// leastWords is how many words a sentence needs to open another issue.
	leastWords = 2
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

// Extract finds the issues of a conversation. Whatever a user tells in several sentences or messages is one issue, unless a
// sentence turns to something else and shares nothing with what was said before. Courtesies, and news that all is well, are no
// issue; a conversation of nothing else has none. The words of the others are not looked at.
func Extract(c Conversation) []Issue {
	subject := strings.Join(strings.Fields(plain(c.Subject)), " ")
	if hasCue(subject, automaticCues) {
		return nil
	}
	said := userSentences(c)
	language := languageOf(subject + "\n" + strings.Join(said, "\n"))
	if len(said) == 0 && subject != "" {
		said = []string{subject}
	}
	current := &draft{language: language}
	found := []*draft{current}
	settled := false
	for _, sentence := range said {
		if settles(sentence) {
			settled = true
			continue
		}
		about := terms(sentence, language)
		if len(about) == 0 {
			continue
		}
		if turns(sentence) && len(about) >= leastWords && len(found) < maxIssues && !current.shares(about) {
			current = &draft{language: language}
			found = append(found, current)
		}
		current.add(sentence, about)
	}
	var issues []Issue
	for i, d := range found {
		issue, ok := d.issue(subject, len(found) == 1 || i == 0, settled)
		if ok {
			issues = append(issues, issue)
		}
	}
	return issues
}

func userSentences(c Conversation) []string {
	var said []string
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
	language string
	details  []string
	terms    [][]string
	known    map[string]bool
}

func (d *draft) add(sentence string, about []string) {
	if len(d.details) < maxDetails {
		d.details, d.terms = append(d.details, sentence), append(d.terms, about)
	}
	if d.known == nil {
		d.known = map[string]bool{}
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

// issue makes the draft an issue. Of what a user says who is content or only courteous, just a question or a
// complaint is left.
func (d *draft) issue(subject string, takesSubject, settled bool) (Issue, bool) {
	meant := slices.DeleteFunc(slices.Clone(d.details), func(sentence string) bool { return courteous(sentence, d.language) })
	if len(meant) == 0 || settled && !slices.ContainsFunc(meant, statesProblem) {
		return Issue{}, false
	}
	var about []string
	if takesSubject && subject != "" {
		// The subject is what matters most to the writer.
		about = append(about, terms(subject, d.language)...)
	}
	for _, terms := range d.terms {
		about = append(about, terms...)
	}
	return Issue{
		Title: titleOf(d, subject, takesSubject), Details: d.details, Impact: impactOf(d.details, d.known), Language: d.language,
		Words: about[:min(len(about), maxIssueWords)],
	}, true
}
