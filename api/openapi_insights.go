package api

import (
	"fmt"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// OpenAPIBody describes what every event has; what a type has of its own is open.
func (*trackEventsRequest) OpenAPIBody() dict {
	location := dict{"url": dict{"type": "string", "format": "uri"}, "displayContext": enumOf(insights.DisplayContexts.Words())}
	for _, id := range []string{"siteSection", "siteSpace", "siteShareKey", "space", "revision", "page"} {
		location[id] = nullable(textType())
	}
	session := dict{
		"visitorId": textType(), "sessionId": textType(), "cookies": dict{"type": "object", "additionalProperties": textType()},
		"ip": textType(), "userAgent": textType(), "language": nullable(textType()), "referrer": nullable(textType()),
		"visitorAuthClaims": dict{"type": "object"},
	}
	event := objectOf(dict{
		"type": enumOf(insights.EventTypes.Words()), "timestamp": dict{"type": "string", "format": "date-time"},
		"session": objectOf(session, "visitorId", "sessionId"), "location": objectOf(location, "url"),
	}, "type", "session", "location")
	return objectOf(dict{"events": arrayOf(event)}, "events")
}

// OpenAPIBody follows the column table.
func (*aggregateRequest) OpenAPIBody() dict {
	return closed(objectOf(dict{
		"range": dict{"oneOf": []any{
			enumOf(query.Presets()),
			closed(objectOf(dict{
				"from": dict{"type": "string", "format": "date-time"}, "to": dict{"type": "string", "format": "date-time"},
			}, "from", "to")),
		}},
		"select":  arrayOf(columnSchema(insights.Group | insights.Measure)),
		"groupBy": arrayOf(columnSchema(insights.Group)),
		"where":   arrayOf(dict{"oneOf": filterSchemas()}),
		"order": closed(objectOf(dict{
			"by": columnSchema(insights.Group | insights.Measure), "direction": enumOf([]string{"asc", "desc"}),
		}, "by", "direction")),
		"limit": dict{"type": "integer", "minimum": 1, "maximum": 1000},
	}, "range"))
}

// extraSchemas has the parameter that some columns take.
var extraSchemas = map[insights.Extra]func() dict{
	insights.ExtraInterval: func() dict {
		var words []string
		for _, interval := range insights.Intervals {
			words = append(words, interval.String())
		}
		return enumOf(words)
	},
	insights.ExtraPrecision: func() dict { return dict{"type": "integer", "minimum": 0, "maximum": 15} },
	insights.ExtraClaim:     textType,
}

// columnSchema is a column in one of the roles: those without a parameter together, each other one by itself.
func columnSchema(roles insights.Role) dict {
	var plain []string
	var alternatives []any
	for _, c := range insights.Columns() {
		if c.Name == "" || c.Roles&roles == 0 {
			continue
		}
		extra, ok := extraSchemas[c.Extra]
		if !ok {
			plain = append(plain, c.Name)
			continue
		}
		alternatives = append(alternatives, documented(closed(objectOf(dict{
			"column": enumOf([]string{c.Name}), string(c.Extra): extra(),
		}, "column")), c.Doc))
	}
	return dict{"oneOf": append(alternatives, closed(objectOf(dict{"column": enumOf(plain)}, "column")))}
}

// filterSchemas has an alternative per column that can be filtered.
func filterSchemas() []any {
	var all []any
	for _, c := range insights.Columns() {
		if c.Name == "" || len(c.Operators) == 0 {
			continue
		}
		var words []string
		for _, operator := range c.Operators {
			words = append(words, operator.String())
		}
		members := dict{
			"column": enumOf([]string{c.Name}), "operator": enumOf(words),
			"values": dict{"type": "array", "description": fmt.Sprintf("Each is %s.", c.Value.Shape())},
		}
		required := []string{"column", "values"}
		if c.Extra == insights.ExtraClaim {
			members[string(c.Extra)] = textType()
			required = append(required, string(c.Extra))
		}
		all = append(all, documented(closed(objectOf(members, required...)), c.Doc))
	}
	return all
}
