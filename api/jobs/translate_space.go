package jobs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// noTranslator is the reason of runs on an installation without a translator.
const noTranslator = "this installation has no translator: its operator can set OCTAVO_TRANSLATOR and OCTAVO_TRANSLATOR_URL"

// translateSpace runs a translation. It translates the source's new segments, and brings the copy up to date.
// Translations are stored batch by batch, so an attempt continues where the last one stopped.
func translateSpace(ctx context.Context, d Deps, args schema.TranslateSpace) error {
	organization, run, err := d.Store.StartTranslationRun(ctx, args.Translation, args.Run)
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && !run {
		return nil // The run has ended, or the translation was deleted.
	}
	if err != nil {
		return err
	}
	err = explainTranslation(runTranslation(ctx, d, args, organization))
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return err // A stopping node leaves the run unchanged, so another node continues it.
	}
	reason := internalReason
	if public, ok := errors.AsType[*schema.Error](err); ok && public.Code != schema.CodeInternal {
		reason = public.Message
	}
	// The reason is stored even if the job's time is over.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	noted, failed := d.Store.FailTranslationRun(noting, args.Run, reason)
	if failed == nil && !noted {
		return nil // The translation was deleted meanwhile.
	}
	return errors.Join(err, failed)
}

// runTranslation does a run for the organization that owns the space now. The arguments name the organization that
// owned the space when the job was made.
func runTranslation(ctx context.Context, d Deps, args schema.TranslateSpace, organization string) error {
	if d.Translator == nil {
		return GiveUp(&schema.Error{Code: schema.CodeConflict, Message: noTranslator})
	}
	base, err := d.Store.TranslationBase(ctx, organization, args.Translation)
	if err != nil {
		return err
	}
	t := translator{deps: d, base: base, run: args.Run}
	if err := t.begin(); err != nil {
		return err
	}
	if err := d.Translator.Check(ctx, t.work.From, t.work.To); err != nil {
		return err
	}
	if err := t.translate(ctx); err != nil {
		return err
	}
	return d.Store.FinishTranslationRun(ctx, args.Run, base, func(put func([]store.Document) error) (store.TranslatedSpace, error) {
		return t.copy(ctx, put)
	})
}

// explainTranslation makes errors with public messages, and marks errors that another attempt would only repeat.
func explainTranslation(err error) error {
	if failed, ok := errors.AsType[*provider.Error](err); ok {
		return explainProvider(failed)
	}
	if public, ok := errors.AsType[*schema.Error](err); ok && public.Code < schema.CodeInternal && public.Code != schema.CodeNotFound {
		return GiveUp(public)
	}
	return err
}

func explainProvider(failed *provider.Error) error {
	public := &schema.Error{Code: schema.CodeUnavailable, Message: failed.Error(), Cause: errors.Unwrap(failed)}
	if failed.Retryable() {
		return public
	}
	return GiveUp(public)
}

// translator is one attempt of a run.
type translator struct {
	deps Deps
	base store.TranslationBase
	run  string
	work translation.Work

	// made, edited and source are the pages of the previous run, by id.
	made, edited, source map[string]tree.Node
	corrections          map[[2]string]store.Correction

	// waiting has the segments that are sent next, and asked has the keys of these segments. refused has the keys of
	// refused segments, so that they are not sent twice. The database has the stored translations, so a run of many
	// pages holds few segments in memory.
	waiting        []translation.Segment
	asked, refused map[string]bool

	// contentBytes is the size of the reusable contents that the copy gets.
	contentBytes int
}

// pagesAtOnce bounds the number of pages whose documents are in memory, and bytesAtOnce bounds their bytes.
// segmentsAtOnce is the number of segments that are sent to the translator before the next pages are read.
const (
	pagesAtOnce    = 50
	bytesAtOnce    = 8 << 20
	segmentsAtOnce = 400
)

func (t *translator) begin() error {
	row := t.base.Translation
	instructions, err := schema.DecodeJSON[schema.Document](row.Instructions)
	if err != nil {
		return err
	}
	t.work = translation.Work{
		From: row.SourceLanguage, To: row.Language, Instructions: strings.TrimSpace(content.Plain(instructions)),
	}
	var terms []translation.Term
	for _, entry := range t.base.Glossary {
		byLanguage, err := schema.DecodeJSON[map[string]string](entry.Translations)
		if err != nil {
			return err
		}
		terms = append(terms, translation.Term{Source: termIn(byLanguage, t.work.From), Target: termIn(byLanguage, t.work.To)})
	}
	t.work.Glossary = translation.NewGlossary(terms)
	t.made, t.edited, t.source = byID(t.base.Made), byID(t.base.Edited), byID(t.base.Source)
	t.corrections = make(map[[2]string]store.Correction, len(t.base.Corrections))
	for _, c := range t.base.Corrections {
		t.corrections[[2]string{c.Page, c.Segment}] = c
	}
	return nil
}

// termIn returns the term of a language. Glossaries may write a language in capitals. Glossaries have no terms for
// single countries.
func termIn(terms map[string]string, language string) string {
	base, _, _ := strings.Cut(language, "-")
	for _, code := range []string{language, base} {
		if term, there := terms[code]; there {
			return term
		}
		for tag, term := range terms {
			if strings.EqualFold(tag, code) {
				return term
			}
		}
	}
	return ""
}

func byID(nodes []tree.Node) map[string]tree.Node {
	pages := make(map[string]tree.Node, len(nodes))
	for _, n := range nodes {
		pages[n.ID] = n
	}
	return pages
}

// translate sends the segments that have no translation yet, without duplicates.
func (t *translator) translate(ctx context.Context) error {
	t.asked, t.refused = map[string]bool{}, map[string]bool{}
	title := translation.PlainPlace("", t.base.Space.Title, nil)
	if err := t.add(ctx, []translation.Place{title}); err != nil {
		return err
	}
	seen := map[string]string{}
	err := t.eachBatch(ctx, func(pages []translatedPage) error {
		if err := t.add(ctx, placesOf(pages)); err != nil {
			return err
		}
		return t.eachContent(ctx, pages, seen, func(c *reusable) error { return t.add(ctx, c.places) })
	})
	if err != nil {
		return err
	}
	return t.send(ctx)
}

// add queues the segments of places that have no translation yet, and sends the queue once it is long enough.
func (t *translator) add(ctx context.Context, places []translation.Place) error {
	segments, known, err := t.known(ctx, places)
	if err != nil {
		return err
	}
	for _, s := range segments {
		if _, done := known[s.Source]; !done && !t.asked[s.Key] && !t.refused[s.Key] {
			t.asked[s.Key] = true
			t.waiting = append(t.waiting, s)
		}
	}
	if len(t.waiting) >= segmentsAtOnce {
		return t.send(ctx)
	}
	return nil
}

func (t *translator) send(ctx context.Context) error {
	engine := translation.Engine{Provider: t.deps.Translator, Pause: retry.Sleep}
	err := engine.Run(ctx, t.work, t.waiting, t.keep)
	t.waiting = t.waiting[:0]
	clear(t.asked)
	return err
}

// keep stores the translator's answers. Refused segments are not stored, so the next run sends them again.
func (t *translator) keep(ctx context.Context, done []translation.Done) error {
	var kept []store.Translated
	words := 0
	for _, d := range done {
		if d.Target != "" {
			kept = append(kept, store.Translated{Key: d.Key, Target: d.Target, Problem: d.Problem})
			words += translation.Words(d.Source)
		} else {
			t.refused[d.Key] = true
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return t.deps.Store.KeepTranslated(ctx, t.base.Translation.ID, t.run, kept, words)
}

// known returns the segments of places, and their earlier translations by source.
func (t *translator) known(ctx context.Context, places []translation.Place) ([]translation.Segment, map[string]store.Translated, error) {
	var segments []translation.Segment
	var keys []string
	for i := range places {
		if places[i].Source != "" {
			segments = append(segments, t.work.Segment(places[i].Source))
			keys = append(keys, segments[len(segments)-1].Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	translated, err := t.deps.Store.TranslatedSegments(ctx, t.base.Translation.ID, keys)
	known := make(map[string]store.Translated, len(translated))
	for _, s := range segments {
		if one, there := translated[s.Key]; there {
			known[s.Source] = one
		}
	}
	return segments, known, err
}
