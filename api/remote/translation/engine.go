package translation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/remote/provider"
)

// Provider translates texts that are written in the notation. Its errors are of type *provider.Error.
type Provider interface {
	// Translate returns a translation for each text of the batch, in the order of the batch.
	Translate(ctx context.Context, b Batch) ([]string, error)
	// Check returns an error if the provider does not translate from one of these languages to the other.
	Check(ctx context.Context, from, to string) error
	// Bounds returns the largest number of texts in a batch, and the largest number of bytes of all its texts. A single
	// text may have more bytes than a batch.
	Bounds() (texts, bytes int)
	// KnowsTerms reports whether the provider uses the terms of a text. If it does not, the engine inserts the terms.
	KnowsTerms() bool
}

// Batch is one request to a provider.
type Batch struct {
	From, To     string
	Instructions string
	Texts        []Text
}

// Text is one text of a batch.
type Text struct {
	Source string
	Terms  []Term
	// Complaint is the problem of the provider's last answer for this text. It is "" in the first request.
	Complaint string
}

// These are the problems that a translation can have.
const (
	// TermMissing means that the translation does not contain a term of the glossary. The translation is used
	// nevertheless.
	TermMissing = "term-missing"
	// PlaceholderLost means that tags of the source text were missing in the translation. So the parts of the text were
	// translated separately.
	PlaceholderLost = "placeholder-lost"
	// Refused means that the provider does not translate the segment. The segment stays in its source language.
	Refused = "refused"
)

// Done is a segment with the answer of a provider. Target is the translation, or "" if there is no translation.
type Done struct {
	Segment
	Target  string
	Problem string
}

// Engine sends segments to a provider, and checks and repairs the translations.
type Engine struct {
	Provider Provider
	// Pause waits for the duration `d`, or until ctx ends.
	Pause func(ctx context.Context, d time.Duration)
}

const (
	// attempts is the largest number of attempts of a call whose failure may be temporary. After the last attempt, the
	// run ends. The run is retried with longer pauses.
	attempts = 3
	// longestPause is the longest time for which a run waits for a provider. If the provider requests a longer pause,
	// the run ends and is retried.
	longestPause = 30 * time.Second
	firstPause   = time.Second
	// hopelessAfter is a number of texts. If so many texts are rejected one by one, the provider, and not the texts, is
	// treated as the cause.
	hopelessAfter = 10
)

// Run translates segments in batches. `done` is called for each batch as soon as it is complete. So if a run stops, the
// next run need not request complete batches again.
func (e *Engine) Run(ctx context.Context, w Work, segments []Segment, done func(context.Context, []Done) error) error {
	r := run{Engine: e, work: w}
	texts, bytes := e.Provider.Bounds()
	for len(segments) > 0 {
		n, size := 0, 0
		for n < min(texts, len(segments)) && (n == 0 || size+len(segments[n].Source) <= bytes) {
			size += len(segments[n].Source)
			n++
		}
		results, err := r.batch(ctx, segments[:n])
		if err == nil {
			err = done(ctx, results)
		}
		if err != nil {
			return err
		}
		segments = segments[n:]
	}
	return nil
}

type run struct {
	*Engine
	work Work
	// accepted is true if the provider has translated a text. `rejected` is the number of texts that the provider
	// rejected before its first translation.
	accepted bool
	rejected int
}

// batch translates one batch. It repairs faulty translations with one more request.
func (r *run) batch(ctx context.Context, segments []Segment) ([]Done, error) {
	results := make([]Done, len(segments))
	texts := make([]Text, len(segments))
	for i, s := range segments {
		results[i].Segment = s
		texts[i] = Text{Source: s.Source, Terms: s.Terms}
	}
	answers, err := r.ask(ctx, texts)
	if err != nil {
		return nil, err
	}
	var again []int
	for i, answer := range answers {
		if texts[i].Complaint = results[i].take(answer); texts[i].Complaint != "" {
			again = append(again, i)
		}
	}
	if len(again) == 0 {
		return results, nil
	}
	repeated := make([]Text, len(again))
	for at, i := range again {
		repeated[at] = texts[i]
	}
	if answers, err = r.ask(ctx, repeated); err != nil {
		return nil, err
	}
	for at, i := range again {
		// A translation without a required term is better than a translation with missing tags, or than no translation.
		better := Done{Segment: segments[i]}
		if complaint := better.take(answers[at]); complaint == "" && better.Target != "" || results[i].Target == "" {
			results[i] = better
		}
		if results[i].Problem == PlaceholderLost {
			if err := r.parts(ctx, &results[i]); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// take records an answer in `d`. It returns the problem of the answer in words for the provider. If `answer` is nil,
// the provider has refused the text, and the text is not requested again.
func (d *Done) take(answer *string) string {
	if answer == nil {
		d.Target, d.Problem = "", Refused
		return ""
	}
	_, target, _ := split(*answer)
	if !usable(d.Source, target) {
		d.Target, d.Problem = "", PlaceholderLost
		return "The tags must be those of the source, each exactly once, and inside the same tags."
	}
	d.Target, d.Problem = target, ""
	if lost := missing(d.Terms, target); len(lost) > 0 {
		d.Problem = TermMissing
		var wanted []string
		for _, term := range lost {
			wanted = append(wanted, `"`+term.Source+`" must be translated as "`+term.Target+`"`)
		}
		return strings.Join(wanted, "; ") + "."
	}
	return ""
}

// usable reports whether a translation has the tags of its source and can be stored. A document cannot store U+0000.
func usable(source, target string) bool {
	return fits(source, target) && !strings.ContainsRune(target, 0)
}

// parts translates the texts between the tags one by one. The tags keep their places.
func (r *run) parts(ctx context.Context, d *Done) error {
	all, err := tokens(d.Source)
	if err != nil {
		return nil //nolint:nilerr // The segment stays untranslated, and its problem has the reason.
	}
	var texts []Text
	var at []int
	for i, t := range all {
		if t.kind != textToken || !hasLetters([]token{t}) {
			continue
		}
		_, core, _ := split(escapes.Replace(t.text))
		texts = append(texts, Text{Source: core, Terms: r.work.Glossary.In(t.text)})
		at = append(at, i)
	}
	answers, err := r.ask(ctx, texts)
	if err != nil {
		return err
	}
	translated := false
	for n, i := range at {
		if answers[n] == nil || !usable(texts[n].Source, *answers[n]) {
			continue
		}
		part, err := tokens(*answers[n])
		if err != nil {
			continue
		}
		lead, _, trail := split(all[i].text)
		_, core, _ := split(plain(part))
		all[i].text, translated = lead+core+trail, true
	}
	if translated {
		d.Target = written(all)
	}
	return nil
}

// ask translates the texts of at most one batch. If the provider refuses the batch, each text is requested separately.
// The result has nil for each refused text.
func (r *run) ask(ctx context.Context, texts []Text) ([]*string, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	answers, err := r.persist(ctx, texts)
	if err == nil {
		r.accepted = true
		return answers, nil
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || !slices.Contains(ofTheText, e.Reason) {
		return nil, err
	}
	if len(texts) == 1 {
		if r.rejected++; !r.accepted && r.rejected >= hopelessAfter {
			return nil, err
		}
		return []*string{nil}, nil
	}
	half := len(texts) / 2
	first, err := r.ask(ctx, texts[:half])
	if err != nil {
		return nil, err
	}
	second, err := r.ask(ctx, texts[half:])
	return append(first, second...), err
}

// ofTheText has the reasons after which a smaller batch may succeed.
var ofTheText = []*provider.Reason{provider.Rejected, provider.Refused, provider.Cut, provider.Malformed}

// persist sends a batch to the provider. It sends the batch again if a retry may help.
func (r *run) persist(ctx context.Context, texts []Text) ([]*string, error) {
	b := Batch{From: r.work.From, To: r.work.To, Instructions: r.work.Instructions, Texts: texts}
	var shields []map[string]string
	if !r.Provider.KnowsTerms() {
		b.Texts = slices.Clone(texts)
		shields = make([]map[string]string, len(texts))
		for i := range b.Texts {
			b.Texts[i].Source, shields[i] = shield(texts[i].Source, NewGlossary(texts[i].Terms))
		}
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		answers, err := r.Provider.Translate(ctx, b)
		if err == nil {
			given := make([]*string, len(answers))
			for i := range answers {
				if shields != nil {
					answers[i] = unshield(answers[i], shields[i])
				}
				given[i] = &answers[i]
			}
			return given, nil
		}
		e, ok := errors.AsType[*provider.Error](err)
		// If an answer is malformed, one retry is made. After that, smaller batches follow.
		last := attempt >= attempts || ok && e.Reason == provider.Malformed && attempt > 1
		if !ok || !e.Retryable() || last || e.RetryAfter > longestPause || ctx.Err() != nil {
			return nil, err
		}
		r.Pause(ctx, max(e.RetryAfter, pause))
		pause *= 2
	}
}

// shield replaces each term by a tag, for providers that do not use terms. It also returns the text of each tag.
func shield(source string, terms *Glossary) (string, map[string]string) {
	all, err := tokens(source)
	if err != nil || len(terms.byStart) == 0 {
		return source, nil
	}
	stand := map[string]string{}
	var shielded []token
	for _, t := range all {
		if t.kind != textToken {
			shielded = append(shielded, t)
			continue
		}
		runes, from := []rune(t.text), 0
		for _, f := range terms.find(t.text) {
			id := "t" + strconv.Itoa(len(stand)+1)
			stand[id] = f.Target
			shielded = append(shielded, token{kind: textToken, text: string(runes[from:f.from])}, token{kind: singleToken, id: id})
			from = f.to
		}
		shielded = append(shielded, token{kind: textToken, text: string(runes[from:])})
	}
	if len(stand) == 0 {
		return source, nil
	}
	return written(shielded), stand
}

// unshield replaces the tags by the terms. If a tag is missing or repeated, the translation does not contain the term.
func unshield(target string, stand map[string]string) string {
	if len(stand) == 0 {
		return target
	}
	all, err := tokens(target)
	if err != nil {
		return target
	}
	for i, t := range all {
		if term, ok := stand[t.id]; ok && t.kind == singleToken {
			all[i] = token{kind: textToken, text: term}
		}
	}
	return written(all)
}
