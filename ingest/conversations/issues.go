package conversations

import (
	"slices"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
)

// Limits per conversation, so that no single one can flood an organization.
const (
	maxSentences  = 1000
	maxIssues     = 5
	maxDetails    = 40
	maxSentence   = 1000
	maxTitle      = 120
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
	// Words are what it is about, for Cluster.
	Words []string
}

// Extract finds the issues of a conversation. Every sentence of the user belongs to one: a sentence that states a problem
// opens an issue unless it speaks of the same thing as one before it, and any other sentence belongs to the issue that the
// user is speaking of. A conversation in which no problem is stated is one issue: what the user came with. A conversation
// in which the user says nothing has none, unless it has a subject.
func Extract(c Conversation) []Issue {
	said := userSentences(c)
	subject := strings.Join(strings.Fields(plain(c.Subject)), " ")
	if len(said) == 0 {
		if subject == "" {
			return nil
		}
		said = []string{subject}
	}
	current := &draft{}
	found := []*draft{current}
	for _, sentence := range said {
		if statesProblem(sentence) {
			current = placeFor(&found, sentence)
			current.problem = true
		}
		current.add(sentence)
	}
	issues := make([]Issue, len(found))
	for i, d := range found {
		title := d.title()
		about := words(strings.Join(d.details, " "))
		if subject != "" && len(found) == 1 {
			title = subject
			// The subject is what matters most to the writer.
			about = append(words(subject), about...)
		}
		issues[i] = Issue{
			Title: shorten(title, maxTitle), Details: d.details, Impact: impactOf(d.details),
			Words: about[:min(len(about), maxIssueWords)],
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
	details []string
	stems   map[string]bool
	problem bool
}

func (d *draft) add(sentence string) {
	if len(d.details) < maxDetails {
		d.details = append(d.details, sentence)
	}
	if d.stems == nil {
		d.stems = map[string]bool{}
	}
	for _, s := range stems(sentence) {
		d.stems[s] = true
	}
}

// title is the first sentence that states a problem, or else the first that is not a greeting.
func (d *draft) title() string {
	for _, sentence := range d.details {
		if !d.problem && len(words(sentence)) > 0 || statesProblem(sentence) {
			return sentence
		}
	}
	return d.details[0]
}

// placeFor finds the issue that a sentence with a problem belongs to, or opens one.
func placeFor(found *[]*draft, sentence string) *draft {
	last := (*found)[len(*found)-1]
	about := stems(sentence)
	if len(*found) == 1 && !last.problem {
		return last // What was said so far led to this problem.
	}
	if len(about) < leastWords {
		return last
	}
	for _, d := range slices.Backward(*found) {
		if slices.ContainsFunc(about, func(s string) bool { return d.stems[s] }) {
			return d
		}
	}
	if len(*found) == maxIssues {
		return last
	}
	opened := &draft{}
	*found = append(*found, opened)
	return opened
}

func stems(text string) []string {
	all := words(text)
	for i, word := range all {
		all[i] = stem(word)
	}
	return all
}

// English phrases that tell how badly somebody is stuck. Each is matched as whole words.
var (
	blockingCues = cues(
		"cannot", "can't", "cant", "can not", "could not", "couldn't", "unable", "impossible", "blocked", "blocking", "blocker",
		"stuck", "crash", "crashes", "crashed", "crashing", "is down", "are down", "went down", "goes down", "outage", "locked out", "lost", "data loss", "urgent",
		"urgently", "asap", "critical", "emergency", "in production", "not working", "does not work", "doesn't work", "do not work",
		"don't work", "stopped working", "no longer works", "won't start", "won't load", "won't open", "no access", "unusable",
	)
	troubleCues = cues(
		"error", "errors", "fail", "fails", "failed", "failing", "failure", "broken", "breaks", "broke", "bug", "bugs", "buggy",
		"issue", "issues", "problem", "problems", "wrong", "incorrect", "incorrectly", "missing", "slow", "slowly", "timeout",
		"times out", "timed out", "freezes", "frozen", "hangs", "won't", "will not", "isn't", "doesn't", "does not", "didn't",
		"not", "never", "nothing", "blank", "empty", "invalid", "rejected", "refused", "denied", "expired", "confusing", "confused",
		"unclear", "unexpected", "unexpectedly", "duplicate", "duplicated", "trouble", "struggling", "keeps", "frustrating",
	)
	workaroundCues = cues(
		"workaround", "work around", "worked around", "for now", "in the meantime", "as a temporary", "temporarily", "managed to",
		"manually", "instead i", "alternative", "alternatively", "other browser", "another browser", "after a refresh",
		"if i refresh", "after refreshing", "sometimes", "intermittent", "intermittently", "occasionally",
	)
)

func cues(phrases ...string) []string {
	for i, phrase := range phrases {
		phrases[i] = " " + phrase + " "
	}
	return phrases
}

func hasCue(sentence string, phrases []string) bool {
	text := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	text = " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}), " ") + " "
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

func statesProblem(sentence string) bool {
	return hasCue(sentence, blockingCues) || hasCue(sentence, troubleCues)
}

// impactOf follows the contract's words: high blocks and has no workaround, medium blocks in part or has one, low is little
// friction, such as a question.
func impactOf(details []string) schema.Impact {
	has := func(phrases []string) bool {
		return slices.ContainsFunc(details, func(sentence string) bool { return hasCue(sentence, phrases) })
	}
	switch blocking := has(blockingCues); {
	case blocking && !has(workaroundCues):
		return schema.ImpactHigh
	case blocking || has(troubleCues):
		return schema.ImpactMedium
	}
	return schema.ImpactLow
}
