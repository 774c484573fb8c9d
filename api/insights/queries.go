package insights

import (
	"fmt"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// OpenAPIBody describes the members common to all events; it does not restrict other members.
func (*trackEventsRequest) OpenAPIBody() jsonschema.Dict {
	location := jsonschema.Dict{"url": jsonschema.Dict{"type": "string", "format": "uri"}, "displayContext": jsonschema.Enum(insights.DisplayContexts.Words())}
	for _, id := range []string{"siteSection", "siteSpace", "siteShareKey", "space", "revision", "page", "title"} {
		location[id] = jsonschema.Nullable(jsonschema.Text())
	}
	session := jsonschema.Dict{
		"visitorId": jsonschema.Text(), "sessionId": jsonschema.Text(), "cookies": jsonschema.Dict{"type": "object", "additionalProperties": jsonschema.Text()},
		"ip": jsonschema.Text(), "userAgent": jsonschema.Text(), "language": jsonschema.Nullable(jsonschema.Text()), "referrer": jsonschema.Nullable(jsonschema.Text()),
		"visitorAuthClaims": jsonschema.Dict{"type": "object"},
	}
	integer := func(least, most int, doc string) jsonschema.Dict {
		number := jsonschema.Dict{"type": "integer", "minimum": least, "maximum": most}
		return jsonschema.Nullable(jsonschema.Documented(number, doc))
	}
	location["status"] = integer(insights.MinHTTPStatus, insights.MaxHTTPStatus,
		"The status of the answer to the request for the page.")
	event := jsonschema.Object(jsonschema.Dict{
		"resultsCount": integer(0, insights.MaxResults,
			"How many results a search found, in search_type_query and search_open_result."),
		"seconds": integer(0, insights.MaxEngagedSeconds,
			"How long the page was in use, in page_leave, which requires it."),
		"depth": integer(0, insights.MaxScrollDepth,
			"How deep the page was read, in percent of its height, in page_leave."),
		"type":      jsonschema.Enum(insights.EventTypes.Words()),
		"timestamp": jsonschema.Dict{"type": "string", "format": "date-time"},
		"session":   jsonschema.Object(session, "visitorId", "sessionId"),
		"location":  jsonschema.Object(location, "url"),
	}, "type", "session", "location")
	return jsonschema.Object(jsonschema.Dict{"events": jsonschema.Array(event)}, "events")
}

// OpenAPIBody describes an aggregate query. The schema lists the columns of the column table.
func (*aggregateRequest) OpenAPIBody() jsonschema.Dict {
	return querySchema(jsonschema.Dict{
		"select":  jsonschema.Array(columnSchema(insights.Group | insights.Measure)),
		"groupBy": jsonschema.Array(columnSchema(insights.Group)),
		"where":   whereSchema(insights.Group | insights.Measure),
		"order": jsonschema.Closed(jsonschema.Object(jsonschema.Dict{
			"by": columnSchema(insights.Group | insights.Measure), "direction": jsonschema.Enum([]string{"asc", "desc"}),
		}, "by", "direction")),
		"limit": jsonschema.Dict{"type": "integer", "minimum": 1, "maximum": 1000},
		"fill": jsonschema.Documented(jsonschema.Dict{"type": "boolean"},
			"Add the buckets of the one group of time in which nothing happened, at most 10,000, before conditions on metrics, order and limit. Counts are 0 there, other metrics null."),
		"compare": jsonschema.Documented(jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Comparisons()), rangeSchema()}},
			"Another range: the period before (of a day, week or month so far, the same part of the period before), "+
				"the same dates a year before, or the same weekdays 52 weeks before. "+
				"The answer's member compare has its range, and columns with a row for each row of columns. "+
				"At most one group of time, with an interval, of at most 10,000 buckets."),
		"others": jsonschema.Documented(jsonschema.Dict{"type": "boolean"},
			"Add the member others if there are rows beyond limit: columns with the one row that they are together. "+
				"Its groups are null, and its metrics are of all their events, so that a visitor of several of them "+
				"counts once. Not with conditions on metrics, fill or cursor."),
		"count": jsonschema.Documented(jsonschema.Dict{"type": "boolean"},
			"Add rowsTotal, the number of rows without limit. With cursor, only the first page has it."),
		"accuracy": jsonschema.Documented(jsonschema.Enum(query.Accuracies()),
			"With exact, a query that can only be answered approximately is refused."),
		"cursor": jsonschema.Documented(jsonschema.Text(),
			"\"\" for the first page, then next.cursor of the answer before, with the same request. The answer has next while there are more rows."),
	}, "range")
}

// OpenAPIBody describes a funnel query.
func (*funnelRequest) OpenAPIBody() jsonschema.Dict {
	steps := jsonschema.Array(stepSchema())
	steps["minItems"], steps["maxItems"] = query.MinFunnelSteps, query.MaxFunnelSteps
	return querySchema(jsonschema.Dict{
		"where": whereSchema(insights.Group),
		"steps": jsonschema.Documented(steps, "Each is reached by an event that meets all of its where, or by any event without one."),
		"window": jsonschema.Documented(jsonschema.Dict{"type": "integer", "minimum": 1, "maximum": query.MaxFunnelWindow, "default": query.DefaultFunnelWindow},
			"How many seconds after the first step the last one may be: 14 days if absent."),
		"by": jsonschema.Documented(jsonschema.Enum(query.FunnelActors()), "Who goes through the steps: a visitor if absent."),
		"strictIncrease": jsonschema.Documented(jsonschema.Dict{"type": "boolean", "default": true},
			"Whether each step must be at a later time than the one before. With false, events of one moment "+
				"are one after the other in the order in which they were sent."),
	}, "range", "steps")
}

// OpenAPIBody describes a retention query.
func (*retentionRequest) OpenAPIBody() jsonschema.Dict {
	return querySchema(jsonschema.Dict{
		"where": whereSchema(insights.Group),
		"interval": jsonschema.Documented(insights.Datetime.Extra.Schema(),
			fmt.Sprintf("What the range is cut to in the time zone, at most %d of them: days if absent.", query.MaxCohorts)),
		"first":  jsonschema.Documented(stepSchema(), "A visitor's cohort is the interval of the visitor's first event in the range that meets this: any event if absent."),
		"return": jsonschema.Documented(stepSchema(), "A visitor is back in an interval in which an event meets this, wherever in the interval it is: any event if absent."),
		"periods": jsonschema.Documented(jsonschema.Dict{"type": "integer", "minimum": 0, "maximum": query.MaxRetentionPeriods, "default": query.DefaultRetentionPeriods},
			"How many intervals after a cohort's own are looked at. Those that begin after the range are left out."),
	}, "range")
}

// OpenAPIAnswer describes the number of visitors at each step.
func (*funnelRequest) OpenAPIAnswer() jsonschema.Dict {
	step := func(doc string) jsonschema.Dict {
		return jsonschema.Documented(jsonschema.Nullable(jsonschema.Dict{"type": "number"}), doc)
	}
	return jsonschema.Object(jsonschema.Dict{"steps": jsonschema.Array(jsonschema.Object(jsonschema.Dict{
		"count":                  jsonschema.Documented(jsonschema.Dict{"type": "integer"}, "Who reached the step."),
		"conversion":             step("As a part of who reached the first step; null if nobody did."),
		"conversionFromPrevious": step("As a part of who reached the step before, or the first step itself; null if nobody did."),
	}, "count", "conversion", "conversionFromPrevious"))}, "steps")
}

// OpenAPIAnswer describes the cohorts in the answer to a retention query.
func (*retentionRequest) OpenAPIAnswer() jsonschema.Dict {
	return jsonschema.Object(jsonschema.Dict{"cohorts": jsonschema.Array(jsonschema.Object(jsonschema.Dict{
		"start":    jsonschema.Dict{"type": "string", "format": "date-time"},
		"visitors": jsonschema.Documented(jsonschema.Dict{"type": "integer"}, "Visitors whose first event was in the interval."),
		"returned": jsonschema.Documented(jsonschema.Array(jsonschema.Dict{"type": "integer"}), "How many of them were back in the interval itself, in the next one, and so on."),
	}, "start", "visitors", "returned"))}, "cohorts")
}

// OpenAPIBody describes the queries of a batch.
func (*batchRequest) OpenAPIBody() jsonschema.Dict {
	one := jsonschema.Dict{"type": "object", "properties": jsonschema.Dict{
		"report": jsonschema.Documented(jsonschema.Enum(query.ReportWords()),
			"Which of …/events/…, or …/pages, answers the query: aggregate if absent."),
	}}
	return jsonschema.Closed(jsonschema.Object(jsonschema.Dict{"queries": jsonschema.Dict{
		"type": "object", "minProperties": 1, "maxProperties": query.MaxBatch,
		"additionalProperties": jsonschema.Documented(one, "The members of the report's own request, beside report."),
	}}, "queries"))
}

// OpenAPIAnswer describes the answers of a batch.
func (*batchRequest) OpenAPIAnswer() jsonschema.Dict {
	one := jsonschema.Object(jsonschema.Dict{
		"status": jsonschema.Documented(jsonschema.Dict{"type": "integer"}, "The status of the query alone."),
		"headers": jsonschema.Documented(jsonschema.Dict{"type": "object", "additionalProperties": jsonschema.Text()},
			"The headers of the query alone, such as Octavo-Result."),
		"answer": jsonschema.Documented(jsonschema.Dict{"type": "object"}, "The query's answer, or its error."),
	}, "status", "answer")
	return jsonschema.Object(jsonschema.Dict{
		"now": jsonschema.Documented(jsonschema.Dict{"type": "string", "format": "date-time"},
			"When the presets end. In an answer with the header Age, they end at most Age earlier."),
		"timezone": siteZone(),
		"queries":  jsonschema.Dict{"type": "object", "additionalProperties": one},
	}, "now", "timezone", "queries")
}

func siteZone() jsonschema.Dict {
	return jsonschema.Documented(jsonschema.Text(), "The time zone of the site: queries that name no zone have it.")
}

// OpenAPIAnswer describes the answer with the live figures.
func (*liveRequest) OpenAPIAnswer() jsonschema.Dict {
	moment := jsonschema.Dict{"type": "string", "format": "date-time"}
	members := jsonschema.Dict{
		"object": jsonschema.Enum([]string{"insights-live"}), "now": moment,
		"from": jsonschema.Documented(jsonschema.Dict{"type": "string", "format": "date-time"},
			"When the first minute begins."),
		"timezone": siteZone(),
	}
	required := []string{"object", "now", "from", "timezone"}
	for _, part := range query.LiveParts() {
		columns := jsonschema.Array(jsonschema.Dict{"type": "object"})
		members[part] = jsonschema.Object(jsonschema.Dict{"columns": columns}, "columns")
		required = append(required, part)
	}
	return jsonschema.Object(members, required...)
}

// querySchema returns a schema with the members of all queries about events.
func querySchema(members jsonschema.Dict, required ...string) jsonschema.Dict {
	members["range"] = jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Presets()), rangeSchema()}}
	members["segments"] = jsonschema.Documented(jsonschema.Array(jsonschema.Text()), fmt.Sprintf(
		"Ids of saved segments, at most %d, which events are in as well: their where is joined with this where by and.",
		query.MaxSegments))
	members["timezone"] = jsonschema.Documented(jsonschema.Text(),
		"A time zone of the IANA database, such as Europe/Berlin: its calendar cuts time to intervals, and presets "+
			"count its days. Times in the answer have its offset. "+
			"If absent, the time zone of the site's settings: UTC, unless it was changed.")
	members["weekStart"] = jsonschema.Documented(jsonschema.Enum(insights.WeekStarts()),
		"The day with which weeks begin, in intervals and in the preset thisWeek. "+
			"If absent, the day of the site's settings: monday, unless it was changed.")
	return jsonschema.Closed(jsonschema.Object(members, required...))
}

func stepSchema() jsonschema.Dict {
	return jsonschema.Closed(jsonschema.Object(jsonschema.Dict{"where": jsonschema.Array(conditionSchema())}))
}

// whereSchema returns the schema of `where`: a list of conditions on columns that have one of the roles.
func whereSchema(roles insights.Role) jsonschema.Dict {
	return jsonschema.Array(jsonschema.Dict{"oneOf": filterSchemas(roles)})
}

// conditionSchema describes a condition only in words. The full schema is very long, so only `where` has it.
func conditionSchema() jsonschema.Dict {
	return jsonschema.Documented(jsonschema.Dict{"type": "object"}, "An entry as in where: a filter, or another group.")
}

func rangeSchema() jsonschema.Dict {
	bounds := func(format, doc string) any {
		bound := jsonschema.Dict{"type": "string", "format": format}
		members := jsonschema.Dict{"from": bound, "to": bound}
		return jsonschema.Documented(jsonschema.Closed(jsonschema.Object(members, "from", "to")), doc)
	}
	return jsonschema.Dict{"oneOf": []any{
		bounds("date-time", "From a time until before another."),
		bounds("date", "From the first moment of a day to the last moment of a day, in the time zone."),
	}}
}

// columnSchema returns the schema of a reference to a column that has one of the roles. All columns without a parameter
// are one alternative of the schema. Each column with a parameter is an alternative of its own.
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

// filterSchemas returns the alternatives of a condition: one for each column that has operators and one of the roles,
// and one for each way to join conditions to a group.
func filterSchemas(roles insights.Role) []any {
	var all []any
	for _, c := range insights.Columns() {
		if c.Name == "" || len(c.Operators) == 0 || c.Roles&roles == 0 {
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
		below := conditionSchema()
		all = append(all, jsonschema.Documented(jsonschema.Closed(jsonschema.Object(jsonschema.Dict{join: jsonschema.Array(below)}, join)),
			"Conditions joined by "+join+". A group with metrics has no other columns."))
	}
	return all
}
