package view

import (
	"math"
	"net/url"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// FoundSpace returns the API form of a space in which a search found pages.
func (v Presenter) FoundSpace(s store.FoundSpace) schema.SearchSpaceResult {
	result := schema.SearchSpaceResult{
		Type: "space", ID: s.SpaceID, Title: s.Title, Score: score(s.Best), Pages: make([]schema.SearchPageResult, len(s.Pages)),
	}
	for i, page := range s.Pages {
		result.Pages[i] = v.FoundPage(s.SpaceID, page)
	}
	return result
}

// FoundPage returns the API form of a page that a search found.
func (v Presenter) FoundPage(space string, p store.FoundPage) schema.SearchPageResult {
	result := schema.SearchPageResult{
		ID: p.PageID, Title: p.Title, Description: p.Description, Path: p.Path, Score: score(p.Rank), Rank: p.Number,
		Ancestors: make([]schema.SearchAncestor, len(p.Ancestors)), URLs: v.pageURLs(space, p.PageID),
	}
	for _, section := range p.Sections {
		urls := result.URLs
		urls.App += "#" + url.PathEscape(section.Anchor)
		result.Sections = append(result.Sections, schema.SearchSectionResult{
			ID: p.PageID + "#" + section.Anchor, Title: section.Title, Path: p.Path + "#" + section.Anchor, Score: score(section.Rank), Body: section.Excerpt, URLs: urls,
		})
	}
	for i, title := range p.Ancestors {
		result.Ancestors[i] = schema.SearchAncestor{Title: title}
	}
	return result
}

// score rounds a rank to six digits, because the conversion from float32 adds meaningless digits.
func score(rank float32) float64 { return math.Round(float64(rank)*1e6) / 1e6 }
