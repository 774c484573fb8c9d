package insights

import (
	"fmt"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// OpenAPIBody describes the members common to all events; members specific to an event type are unconstrained.
func (*trackEventsRequest) OpenAPIBody() jsonschema.Dict {
	location := jsonschema.Dict{"url": jsonschema.Dict{"type": "string", "format": "uri"}, "displayContext": jsonschema.Enum(insights.DisplayContexts.Words())}
	for _, id := range []string{"siteSection", "siteSpace", "siteShareKey", "space", "revision", "page"} {
		location[id] = jsonschema.Nullable(jsonschema.Text())
	}
	session := jsonschema.Dict{
		"visitorId": jsonschema.Text(), "sessionId": jsonschema.Text(), "cookies": jsonschema.Dict{"type": "object", "additionalProperties": jsonschema.Text()},
		"ip": jsonschema.Text(), "userAgent": jsonschema.Text(), "language": jsonschema.Nullable(jsonschema.Text()), "referrer": jsonschema.Nullable(jsonschema.Text()),
		"visitorAuthClaims": jsonschema.Dict{"type": "object"},
	}
	event := jsonschema.Object(jsonschema.Dict{
		"type": jsonschema.Enum(insights.EventTypes.Words()), "timestamp": jsonschema.Dict{"type": "string", "format": "date-time"},
		"session": jsonschema.Object(session, "visitorId", "sessionId"), "location": jsonschema.Object(location, "url"),
	}, "type", "session", "location")
	return jsonschema.Object(jsonschema.Dict{"events": jsonschema.Array(event)}, "events")
}

// OpenAPIBody is derived from the column table.
func (*aggregateRequest) OpenAPIBody() jsonschema.Dict {
	return jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
		"range":   jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Presets()), rangeSchema()}},
		"select":  jsonschema.Array(columnSchema(insights.Group | insights.Measure)),
		"groupBy": jsonschema.Array(columnSchema(insights.Group)),
		"where":   jsonschema.Array(jsonschema.Dict{"oneOf": filterSchemas()}),
		"order": jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
			"by": columnSchema(insights.Group | insights.Measure), "direction": jsonschema.Enum([]string{"asc", "desc"}),
		}, "by", "direction")),
		"limit": jsonschema.Dict{"type": "integer", "minimum": 1, "maximum": 1000},
		"fill": jsonschema.Documented(jsonschema.Dict{"type": "boolean"},
			"Add the buckets of the one group of time in which nothing happened, at most 10,000, before conditions on metrics, order and limit. Counts are 0 there, other metrics null."),
		"compare": jsonschema.Documented(jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Comparisons()), rangeSchema()}},
			"Another range. The answer's member compare has its range, and columns with a row for each row of columns. At most one group of time, with an interval, of at most 10,000 buckets."),
		"accuracy": jsonschema.Documented(jsonschema.Enum(query.Accuracies()), "With exact, a question that can only be answered approximately is refused."),
		"cursor": jsonschema.Documented(jsonschema.Text(),
			"\"\" for the first page, then next.cursor of the answer before, with the same request. The answer has next while there are more rows."),
		"timezone": jsonschema.Documented(jsonschema.Text(),
			"A time zone of the IANA database, such as Europe/Berlin: its calendar cuts time to intervals, and presets count its days. Times in the answer have its offset. UTC if absent."),
	}, "range"))
}

func rangeSchema() jsonschema.Dict {
	return jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
		"from": jsonschema.Dict{"type": "string", "format": "date-time"}, "to": jsonschema.Dict{"type": "string", "format": "date-time"},
	}, "from", "to"))
}

// columnSchema describes a column in one of the roles. Columns without a parameter share one alternative; each other column has
// its own.
func columnSchema(roles insights.Role) jsonschema.Dict {
	var plain []string
	var alternatives []any
	for _, c := range insights.Columns() {
		if c.Name == "" || c.Roles&roles == 0 {
			continue
		}
		if c.Extra == nil {
			plain = append(plain, c.Name)
			continue
		}
		required := []string{"column"}
		if c.Extra.Required {
			required = append(required, c.Extra.Name)
		}
		alternatives = append(alternatives, jsonschema.Documented(jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
			"column": jsonschema.Enum([]string{c.Name}), c.Extra.Name: c.Extra.Schema(),
		}, required...)), c.Doc))
	}
	return jsonschema.Dict{"oneOf": append(alternatives, jsonschema.Closed(jsonschema.Object(jsonschema.Dict{"column": jsonschema.Enum(plain)}, "column")))}
}

// filterSchemas has one alternative per filterable column, and the groups.
func filterSchemas() []any {
	var all []any
	for _, c := range insights.Columns() {
		if c.Name == "" || len(c.Operators) == 0 {
			continue
		}
		members := jsonschema.Dict{
			"column": jsonschema.Enum([]string{c.Name}), "operator": jsonschema.Enum(insights.OperatorWords(c.Operators)),
			"values": jsonschema.Dict{"type": "array", "description": fmt.Sprintf("Each is %s.", c.Value.Shape())},
		}
		required := []string{"column", "values"}
		if c.Extra != nil && c.Extra.Required {
			members[c.Extra.Name] = c.Extra.Schema()
			required = append(required, c.Extra.Name)
		}
		all = append(all, jsonschema.Documented(jsonschema.Closed(jsonschema.Object(members, required...)), c.Doc))
	}
	for _, join := range query.Joints() {
		below := jsonschema.Documented(jsonschema.Dict{"type": "object"}, "An entry as in where: a filter, or another group.")
		all = append(all, jsonschema.Documented(jsonschema.Closed(jsonschema.Object(jsonschema.Dict{join: jsonschema.Array(below)}, join)),
			"Conditions joined by "+join+". A group with metrics has no other columns."))
	}
	return all
}
