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

// Provider translates texts in the notation. Its errors are of type *provider.Error.
type Provider interface {
	// Translate returns a translation for each text of the batch, in order.
	Translate(ctx context.Context, b Batch) ([]string, error)
	// Check returns an error if the provider does not translate between these languages.
	Check(ctx context.Context, from, to string) error
	// Bounds returns the largest number of texts in a batch, and the largest number of their bytes. A single text may
	// have more bytes than a batch.
	Bounds() (texts, bytes int)
	// KnowsTerms reports whether the provider accepts terms. If it does not, the engine inserts the terms.
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
	// Complaint is the problem of the last answer to this text; "" the first time.
	Complaint string
}

// These are the problems of a translation.
const (
	// TermMissing means that the translation lacks a term of the glossary. The translation is used nevertheless.
	TermMissing = "term-missing"
	// PlaceholderLost means that the translation lacked tags of its source, so it was translated in parts.
	PlaceholderLost = "placeholder-lost"
	// Refused means that the provider does not translate the segment. The segment stays in the language of the source.
	Refused = "refused"
)

// Done is a segment with the answer of a provider. Target is "" if there is no translation.
type Done struct {
	Segment
	Target  string
	Problem string
}

// Engine sends segments to a provider, and checks and repairs the translations.
type Engine struct {
	Provider Provider
	// Pause waits for d, or until ctx ends.
	Pause func(ctx context.Context, d time.Duration)
}

const (
	// attempts is the number of attempts of a call whose failure may be temporary. After that, the whole run is
	// retried, with longer pauses.
	attempts = 3
	// longestPause is the longest time that a run waits for a provider. For a longer pause, the run ends and is
	// retried.
	longestPause = 30 * time.Second
	firstPause   = time.Second
	// hopelessAfter is the number of rejected single texts after which the provider counts as the cause.
	hopelessAfter = 10
)

// Run translates segments, batch by batch. done gets each batch as soon as it is complete. So a stopped run does not
// request complete batches again.
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
	// accepted is true if the provider has translated a text. rejected counts the texts that it rejected before the
	// first success.
	accepted bool
	rejected int
}

// batch translates one batch and repairs faulty translations once.
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
		// A translation without a required term is better than a broken translation or no translation.
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

// take records an answer, and returns its problem for the provider. A nil answer is a refusal, which is not repeated.
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

// usable reports whether a translation has the tags of its source and can be stored. Texts of documents cannot have
// U+0000.
func usable(source, target string) bool {
	return fits(source, target) && !strings.ContainsRune(target, 0)
}

// parts translates the texts between the tags one by one, and leaves the tags where they are.
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

// ask translates texts, at most one batch. If the provider refuses the batch, each text is requested separately. The
// result has nil for refused texts.
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

// ofTheText has the reasons for which a smaller batch may succeed.
var ofTheText = []*provider.Reason{provider.Rejected, provider.Refused, provider.Cut, provider.Malformed}

// persist makes a call, and retries it if a retry may help.
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
		// A malformed answer is worth one retry; then smaller batches follow.
		last := attempt >= attempts || ok && e.Reason == provider.Malformed && attempt > 1
		if !ok || !e.Retryable() || last || e.RetryAfter > longestPause || ctx.Err() != nil {
			return nil, err
		}
		r.Pause(ctx, max(e.RetryAfter, pause))
		pause *= 2
	}
}

// shield replaces each term by a tag, for providers without glossaries. It also returns the text of each tag.
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

// unshield inserts the terms. If a tag is missing or repeated, the translation lacks the term.
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
