package insights

import (
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// OpenAPIBody describes a query for the transitions before and after a page.
func (*transitionsRequest) OpenAPIBody() jsonschema.Dict {
	ofSpace := jsonschema.Dict{"space": jsonschema.Text(), "page": jsonschema.Text()}
	page := jsonschema.Dict{"oneOf": []any{
		jsonschema.Documented(jsonschema.Closed(jsonschema.Object(ofSpace, "space", "page")), "A page of a space."),
		jsonschema.Documented(jsonschema.Closed(jsonschema.Object(jsonschema.Dict{"path": jsonschema.Text()}, "path")),
			"All pages whose address has the path, with or without a slash at its end."),
	}}
	return querySchema(jsonschema.Dict{
		"where": whereSchema(insights.Group),
		"page":  jsonschema.Documented(page, "The page between from and to."),
		"limit": jsonschema.Documented(jsonschema.Dict{
			"type": "integer", "minimum": 1, "maximum": query.MaxTransitions, "default": query.DefaultTransitions,
		}, "The largest number of rows of from, and of to. Octavo-Truncated says that there are more."),
	}, "range", "page")
}

// OpenAPIAnswer describes the counts and the rows of the answer.
func (*transitionsRequest) OpenAPIAnswer() jsonschema.Dict {
	number := func(doc string) jsonschema.Dict {
		return jsonschema.Documented(jsonschema.Dict{"type": "integer"}, doc)
	}
	text := func(doc string) jsonschema.Dict {
		return jsonschema.Documented(jsonschema.Nullable(jsonschema.Text()), doc)
	}
	row := jsonschema.Object(jsonschema.Dict{
		"space": text("The space's id; null for a page outside any space."),
		"page":  text("The page's id; null for a page outside any space."),
		"path": jsonschema.Documented(jsonschema.Text(),
			"The path of the page's address in its last of these views, without a slash at its end."),
		"title": text("The title that the last of these views had; null without a title."),
		"views": number("How many views of the page these views came immediately before or after."),
	}, "space", "page", "path", "title", "views")
	rows := func(doc string) jsonschema.Dict { return jsonschema.Documented(jsonschema.Array(row), doc) }
	return jsonschema.Object(jsonschema.Dict{
		"views":   number("The views of the page: entries, reloads, and all views that came from other pages."),
		"entries": number("The views with which a session began."),
		"exits":   number("The views with which a session ended."),
		"reloads": number("The views that followed a view of the same page."),
		"from": rows("The pages viewed immediately before the page, the most frequent first. Of equally frequent " +
			"pages, the page that was viewed last is first."),
		"to": rows("The pages viewed immediately after the page, in the same order."),
	}, "views", "entries", "exits", "reloads", "from", "to")
}
