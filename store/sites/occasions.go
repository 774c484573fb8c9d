package sites

import (
	"context"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Occasion is a kind of change after which Octavo adds an annotation to sites.
type Occasion struct {
	kind string
	// text is the annotation's text. Values of a Happening replace the words in braces.
	text string
}

// These are all changes after which Octavo adds an annotation. Every reader of a site's insights sees the annotation's
// text. So the text must not name objects that only readers of a space may see.
var (
	MergeOccasion           = Occasion{schema.AnnotationMerge, "Change request {number} was merged into {space}."}
	ImportOccasion          = Occasion{schema.AnnotationImport, "{space} was imported from Git."}
	PublishOccasion         = Occasion{schema.AnnotationPublication, "The site was published."}
	UnpublishOccasion       = Occasion{schema.AnnotationPublication, "The site was unpublished."}
	NewRedirectOccasion     = Occasion{schema.AnnotationRedirect, "A redirect of {path} was created."}
	ChangedRedirectOccasion = Occasion{schema.AnnotationRedirect, "A redirect of {path} was changed."}
)

// Happening is a change of a site, or of all sites that show a space.
type Happening struct {
	Site  string
	Space string
	// Title is the title of the space.
	Title         string
	Pages         []string
	Path          string
	ChangeRequest string
	Number        int32
	// By is the id of the user who made the change. "" means the user of the context.
	By string
}

// Annotate adds an annotation about a change to the sites that it affects, in the transaction of the change. If the
// quota of annotations is reached, the change does not fail. Instead, the oldest annotations of the kind are deleted.
func (s *Store) Annotate(ctx context.Context, q *db.Queries, o Occasion, h Happening) error {
	if h.By == "" {
		h.By = postgres.ActingUser(ctx)
	}
	if len(h.Pages) > schema.MaxAnnotationPages {
		h.Pages = nil
	}
	words := strings.NewReplacer("{number}", strconv.Itoa(int(h.Number)), "{space}", h.Title, "{path}", h.Path)
	text := words.Replace(o.text)
	if runes := []rune(text); len(runes) > schema.MaxAnnotationText {
		text = string(runes[:schema.MaxAnnotationText-1]) + "…"
	}
	return postgres.Interpret(q.AnnotateSites(ctx, db.AnnotateSitesParams{
		SiteID: postgres.UnlessEmpty(h.Site), SpaceID: postgres.UnlessEmpty(h.Space), Kind: o.kind, Text: text,
		Pages: append([]string{}, h.Pages...), Path: postgres.UnlessEmpty(h.Path),
		ChangeRequestID: postgres.UnlessEmpty(h.ChangeRequest), CreatedBy: postgres.UnlessEmpty(h.By),
		Kept: s.db.Bound(postgres.QuotaAnnotations) - 1,
	}), "annotation")
}
