package jobs

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// translatedPage is a page of the source space that becomes a page of the translated copy.
type translatedPage struct {
	node tree.Node
	// document is a copy of the source page's document. It is nil for a page without a document.
	document *schema.Document
	// places are the texts of the page that can be translated: in its document, its title and its description.
	places []translation.Place
}

// segmentTitle and segmentDescription are the ids of a page's title and description as segments. The other constants
// are the largest lengths of these texts, in characters, as in the API.
const (
	segmentTitle       = "title"
	segmentDescription = "description"
	maxPageTitle       = 256
	maxPageDescription = 1000
	maxSpaceTitle      = 50
)

// pageOf returns a page of the translated copy, with the places of its document.
func pageOf(node tree.Node, document *schema.Document) translatedPage {
	p := translatedPage{node: node}
	if document != nil {
		d := *document
		d.Nodes = keys.Clone(d.Nodes)
		keys.Assign(&d, nil)
		p.document, p.places = translation.Places(d)
	}
	// The page is read-only, because its file cannot be edited. So its copy is not translated.
	if node.Kept != "" {
		p.places = nil
	}
	return p
}

// own adds the places of the page's title and description. They have pointers into `p`, so `p` must not be copied
// afterwards.
func (p *translatedPage) own() {
	field := func(id string, text *string, most int) {
		if *text != "" {
			p.places = append(p.places, fieldPlace(id, text, most))
		}
	}
	field(segmentTitle, &p.node.Title, maxPageTitle)
	field(segmentDescription, &p.node.Description, maxPageDescription)
}

// fieldPlace returns the place of a text with a largest length. The text stays untranslated if its translation is
// longer.
func fieldPlace(id string, text *string, most int) translation.Place {
	return translation.PlainPlace(id, *text, func(translated string) {
		if utf8.RuneCountInString(translated) <= most {
			*text = translated
		}
	})
}

func placesOf(pages []translatedPage) (places []translation.Place) {
	for i := range pages {
		places = append(places, pages[i].places...)
	}
	return places
}

// eachBatch reads the pages of the source space in batches, and calls `visit` with each batch.
func (t *translator) eachBatch(ctx context.Context, visit func([]translatedPage) error) error {
	for left := t.base.Pages; len(left) > 0; {
		batch := left[:min(len(left), pagesAtOnce)]
		hashes := make([]string, len(batch))
		for i := range batch {
			hashes[i] = batch[i].Document
		}
		texts, read, err := t.deps.Store.DocumentsWithin(ctx, t.base.Space.ID, hashes, bytesAtOnce)
		if err != nil {
			return err
		}
		batch, left = batch[:read], left[read:]
		pages := make([]translatedPage, len(batch))
		for i, node := range batch {
			var document *schema.Document
			if text, there := texts[node.Document]; there {
				document = &text.Document
			}
			pages[i] = pageOf(node, document)
			pages[i].own()
		}
		if err := visit(pages); err != nil {
			return err
		}
	}
	return nil
}

// copy returns the copy, made from the stored translations. `put` stores the documents of its pages.
func (t *translator) copy(ctx context.Context, put func([]store.Document) error) (store.TranslatedSpace, error) {
	made := store.TranslatedSpace{Title: t.base.Space.Title}
	t.contentBytes = 0
	title := []translation.Place{fieldPlace("", &made.Title, maxSpaceTitle)}
	_, known, err := t.known(ctx, title)
	if err != nil {
		return made, err
	}
	fill(title, known)
	// contents has, by the id of a reusable content's file in the source space, the id of its file in the copy.
	files, contents := map[string]bool{}, map[string]string{}
	err = t.eachBatch(ctx, func(pages []translatedPage) error {
		_, known, err := t.known(ctx, placesOf(pages))
		if err != nil {
			return err
		}
		err = t.eachContent(ctx, pages, contents, func(c *reusable) error {
			_, known, err := t.known(ctx, c.places)
			if err == nil {
				contents[c.id] = t.content(c, known, files, &made)
			}
			return err
		})
		if err != nil {
			return err
		}
		var documents []store.Document
		for i := range pages {
			document, err := t.page(ctx, &pages[i], known, contents, files, &made)
			if err != nil {
				return err
			}
			if document != nil {
				documents = append(documents, *document)
			}
			made.Pages = append(made.Pages, pages[i].node)
		}
		return put(documents)
	})
	for _, c := range made.Contents {
		delete(files, c.ID)
	}
	for id := range files {
		made.Files = append(made.Files, id)
	}
	slices.Sort(made.Files)
	return made, err
}

// page writes translations into a page, and returns its document. Segments that a user has corrected in the copy stay
// corrected.
func (t *translator) page(
	ctx context.Context, p *translatedPage, known map[string]store.Translated, contents map[string]string, files map[string]bool,
	made *store.TranslatedSpace,
) (*store.Document, error) {
	sources := make(map[string]string, len(p.places))
	for i := range p.places {
		sources[p.places[i].ID] = p.places[i].State
	}
	for _, r := range fill(p.places, known) {
		r.Page = p.node.ID
		made.Report(r)
	}
	if err := t.keepCorrections(ctx, p, sources, made); err != nil {
		return nil, err
	}
	p.node.Target = translation.Ref(p.node.Target, t.base.Space.ID, t.base.CopyID)
	if p.document == nil {
		return nil, nil // A page without a document has no translated document.
	}
	for _, id := range translation.Refs(p.document, t.base.Space.ID, t.base.CopyID, contents) {
		files[id] = true
	}
	p.document.Normalize()
	document, err := store.NewDocument(store.Text{Document: *p.document})
	p.node.Document = document.Hash
	return &document, err
}

// fill puts translations into `places`. `known` has the translations by their source text. `fill` returns a report for
// each segment that a person should review.
func fill(places []translation.Place, known map[string]store.Translated) []schema.TranslationReport {
	var reports []schema.TranslationReport
	for i := range places {
		if places[i].Source == "" {
			continue
		}
		translated, there := known[places[i].Source]
		problem := translated.Problem
		if !there || !places[i].Put(translated.Target) {
			problem = schema.ReportRefused
		}
		if problem != "" {
			reports = append(reports, reportOn(problem, "", &places[i]))
		}
	}
	return reports
}

// excerpt is the largest number of a segment's characters that a report shows.
const excerpt = 100

func reportOn(kind, page string, place *translation.Place) schema.TranslationReport {
	text := []rune(place.Text)
	if len(text) > excerpt {
		text = append(text[:excerpt:excerpt], '…')
	}
	return schema.TranslationReport{Kind: kind, Page: page, Segment: place.ID, Text: string(text)}
}

// keepCorrections finds the segments of a page that a user has corrected in the translated copy. It gives these
// segments the text of the previous run. The merge into the copy then sees no change of these segments, so the
// corrections stay. If the source text of a segment has changed since its correction, keepCorrections reports the
// correction as outdated.
func (t *translator) keepCorrections(ctx context.Context, p *translatedPage, sources map[string]string, made *store.TranslatedSpace) error {
	id := p.node.ID
	was, isMade := t.made[id]
	is, isThere := t.edited[id]
	if !isMade || !isThere || was.Title == is.Title && was.Description == is.Description && was.Document == is.Document {
		return nil
	}
	before, err := t.places(ctx, t.base.CopyID, was)
	if err != nil {
		return err
	}
	now, err := t.places(ctx, t.base.CopyID, is)
	if err != nil {
		return err
	}
	var then map[string]*translation.Place
	if source, there := t.source[id]; there {
		if then, err = t.places(ctx, t.base.Space.ID, source); err != nil {
			return err
		}
	}
	for i := range p.places {
		place := &p.places[i]
		old, edited := before[place.ID], now[place.ID]
		if old == nil || edited == nil || old.State == edited.State {
			continue
		}
		c := store.Correction{Page: id, Segment: place.ID, Target: edited.State}
		if known, there := t.corrections[[2]string{id, place.ID}]; there && known.Target == edited.State {
			c.Source = known.Source
		} else if from := then[place.ID]; from != nil {
			c.Source = from.State
		}
		place.Copy(old)
		made.Corrections = append(made.Corrections, c)
		if c.Source != sources[place.ID] {
			made.Report(reportOn(schema.ReportCorrectionOutdated, id, place))
		}
	}
	return nil
}

// places returns the places of a page of a space, by their ids.
func (t *translator) places(ctx context.Context, space string, node tree.Node) (map[string]*translation.Place, error) {
	texts, _, err := t.deps.Store.DocumentsWithin(ctx, space, []string{node.Document}, 0)
	if err != nil {
		return nil, err
	}
	var document *schema.Document
	if text, there := texts[node.Document]; there {
		document = &text.Document
	}
	p := pageOf(node, document)
	p.own()
	found := make(map[string]*translation.Place, len(p.places))
	for i := range p.places {
		found[p.places[i].ID] = &p.places[i]
	}
	return found, nil
}
