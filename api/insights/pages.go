package insights

import (
	"fmt"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// pagesOperation returns the operation that lists pages with metrics.
func pagesOperation(h *siteInsights) frame.Operation {
	o := reportOperation[pagesRequest](h, query.Pages, "listSiteInsightsPages", fmt.Sprintf(
		"List a site's pages with metrics of a range: the pages of the site's spaces, also those that nobody read, "+
			"removed pages that have events, and for events outside any space the paths of their addresses. Pages "+
			"without events have 0 as counts and null as other metrics. A site with more than %d pages, or a range "+
			"with events of more, is a 400. An addition to the published contract.", query.MaxPages))
	// Share links are not admitted, because their filters select events. A page without events could not be filtered.
	o.Path, o.Scope = insightsBase+"/pages", readScope()
	return o
}

// OpenAPIBody describes the request: the metrics, the order and the filters of pages.
func (*pagesRequest) OpenAPIBody() jsonschema.Dict {
	texts := func(doc string) jsonschema.Dict {
		return jsonschema.Documented(jsonschema.Array(jsonschema.Text()), doc)
	}
	member := jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
		"column": jsonschema.Enum(query.PageOrders()),
	}, "column"))
	return querySchema(jsonschema.Dict{
		"select": jsonschema.Documented(jsonschema.Array(columnSchema(insights.Measure)),
			"The metrics: eventsCount if absent."),
		"where": whereSchema(insights.Group),
		"order": jsonschema.Documented(jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
			"by":        jsonschema.Dict{"oneOf": []any{member, columnSchema(insights.Measure)}},
			"direction": jsonschema.Enum([]string{"asc", "desc"}),
		}, "by", "direction")), "By any metric or one of these members: by the first metric, descending, if absent. "+
			"A page without the value is before all others. Spaces, pages and paths break ties."),
		"limit": jsonschema.Dict{
			"type": "integer", "minimum": 1, "maximum": query.MaxPagesLimit, "default": query.DefaultPagesRows,
		},
		"cursor": jsonschema.Documented(jsonschema.Text(),
			"next.cursor of the answer before, with the same request. Presets end as on the first page."),
		"accuracy": jsonschema.Documented(jsonschema.Enum(query.Accuracies()),
			"With exact, a query that can only be answered approximately is refused."),
		"neverRead": jsonschema.Documented(jsonschema.Dict{"type": "boolean"},
			"With true, only pages without an event that meets where; with false, only others."),
		"owners": texts("Only pages of which one of these users made the last change."),
		"spaces": texts("Only pages of these spaces."),
		"kinds": jsonschema.Documented(jsonschema.Array(jsonschema.Enum(query.PageKinds())),
			"Only pages of these kinds."),
		"notEditedSince": jsonschema.Documented(jsonschema.Dict{"type": "string", "format": "date-time"},
			"Only pages that were last edited before this time."),
		"title": jsonschema.Documented(jsonschema.Text(), "Only pages whose title has this text, in any letter case."),
		"path":  jsonschema.Documented(jsonschema.Text(), "Only pages whose path has this text, in any letter case."),
	}, "range")
}

// OpenAPIAnswer describes the rows of the answer.
func (*pagesRequest) OpenAPIAnswer() jsonschema.Dict {
	text := func(doc string) jsonschema.Dict {
		return jsonschema.Documented(jsonschema.Nullable(jsonschema.Text()), doc)
	}
	names := jsonschema.Dict{"id": jsonschema.Text(), "displayName": jsonschema.Text()}
	owner := jsonschema.Object(names, "id", "displayName")
	object := jsonschema.Dict{"type": "object"}
	row := jsonschema.Object(jsonschema.Dict{
		"kind": jsonschema.Documented(jsonschema.Enum(query.PageKinds()),
			"current is a page of the site's spaces, removed a page that has events and is no longer there, and "+
				"path a path outside any space."),
		"space": text("The space's id; null for a path."),
		"page":  text("The page's id; null for a path."),
		"path": text("The slugs from the root of the space to the page, or the path of addresses outside any space, " +
			"without a slash at its end; null for a removed page."),
		"title": text("The page's title, or the title that browsers sent last in the range."),
		"owner": jsonschema.Documented(jsonschema.Nullable(owner),
			"Who made the last change of the page: the author of the merged change request, or otherwise of "+
				"the change."),
		"editedAt": jsonschema.Documented(jsonschema.Nullable(jsonschema.Dict{"type": "string", "format": "date-time"}),
			"When the page was last edited; null for other kinds."),
		"words": jsonschema.Documented(jsonschema.Nullable(jsonschema.Dict{"type": "integer"}),
			"The number of words of the page; null if unknown."),
		"metrics": jsonschema.Documented(object, "The metrics by the names of their columns."),
	}, "kind", "space", "page", "path", "title", "owner", "editedAt", "words", "metrics")
	return jsonschema.Object(jsonschema.Dict{
		"object": jsonschema.Enum([]string{"insights-pages"}),
		"items":  jsonschema.Array(row),
		"count": jsonschema.Documented(jsonschema.Dict{"type": "integer"},
			"The number of rows of all pages of the list."),
		"next": jsonschema.Object(jsonschema.Dict{"cursor": jsonschema.Text()}, "cursor"),
	}, "object", "items", "count")
}
