package api

import (
	"fmt"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// bodyDescribed is a request type whose body the function reads by itself, and which says what it looks like.
type bodyDescribed interface {
	openAPIBody() dict
}

func textType() dict                   { return dict{"type": "string"} }
func enumOf(words []string) dict       { return dict{"type": "string", "enum": anyOf(words)} }
func arrayOf(entry dict) dict          { return dict{"type": "array", "items": entry} }
func closed(d dict) dict               { d["additionalProperties"] = false; return d }
func nullable(of dict) dict            { return dict{"anyOf": []any{of, dict{"type": "null"}}} }
func documented(d dict, s string) dict { d["description"] = s; return d }

func objectOf(properties dict, required ...string) dict {
	d := dict{"type": "object", "properties": properties}
	if len(required) > 0 {
		d["required"] = anyOf(required)
	}
	return d
}

// openAPIBody describes what every event has; what a type has of its own is open.
func (*trackEventsRequest) openAPIBody() dict {
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

// openAPIBody follows the column table.
func (*aggregateRequest) openAPIBody() dict {
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

// columnSchema is a column in one of the roles: those without a parameter together, each other one by itself.
func columnSchema(roles insights.Role) dict {
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
		alternatives = append(alternatives, documented(closed(objectOf(dict{
			"column": enumOf([]string{c.Name}), c.Extra.Name: c.Extra.Schema(),
		}, required...)), c.Doc))
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
		members := dict{
			"column": enumOf([]string{c.Name}), "operator": enumOf(insights.OperatorWords(c.Operators)),
			"values": dict{"type": "array", "description": fmt.Sprintf("Each is %s.", c.Value.Shape())},
		}
		required := []string{"column", "values"}
		if c.Extra != nil && c.Extra.Required {
			members[c.Extra.Name] = c.Extra.Schema()
			required = append(required, c.Extra.Name)
		}
		all = append(all, documented(closed(objectOf(members, required...)), c.Doc))
	}
	return all
}
