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

// noTranslator is the reason why a run fails if the deployment has no translator.
const noTranslator = "this installation has no translator: its operator can set OCTAVO_TRANSLATOR and OCTAVO_TRANSLATOR_URL"

// translateSpace runs a translation. It translates the new segments of the source space, and updates the translated
// copy. Translations are stored batch by batch, so an attempt continues where the previous attempt stopped.
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
		// The node is stopping. The run stays unchanged, so that another node continues it.
		return err
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

// runTranslation does a run. `organization` owns the space now. It may differ from the organization in `args`, which
// owned the space when the job was enqueued.
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

// explainTranslation replaces errors of the translator by errors with public messages. It marks errors that another
// attempt would repeat (GiveUp).
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

	// These maps have pages by id. `made` has the pages that the previous run made. `edited` has the same pages as
	// users have edited them since. `source` has the pages of the source space at the time of the previous run.
	made, edited, source map[string]tree.Node
	corrections          map[[2]string]store.Correction

	// waiting has the segments that are sent to the translator next, and `asked` has their keys. `refused` has the keys
	// of segments that the translator has refused, so that they are not sent twice. All translations are stored in the
	// database, so a run has few segments in memory.
	waiting        []translation.Segment
	asked, refused map[string]bool

	// contentBytes is the size of the reusable contents that the copy gets.
	contentBytes int
}

// pagesAtOnce is the largest number of pages whose documents are in memory, and bytesAtOnce is the largest size of
// these documents. When segmentsAtOnce segments wait, they are sent to the translator before further pages are read.
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

// termIn returns the term in a language, such as pt-BR. It ignores letter case. If the glossary has no term for the
// language of a country, it returns the term for the language, such as pt.
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

// translate sends all segments without a translation to the translator. It sends equal segments only once.
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

// add finds the segments of places that have no translation yet, and adds them to `waiting`. If enough segments wait,
// it sends them.
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

// keep stores the translations that the translator has returned. For a refused segment it stores nothing, so the next
// run sends the segment again.
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
