package insights

import (
	"context"
	"strconv"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
)

type trackEventsRequest struct {
	IdempotencyKey *string `header:"Idempotency-Key" rules:"len=1..255,pattern=ascii"`
	// Prefer with handling=lenient (RFC 7240) requests that events of unknown types are refused individually.
	Prefer []string `header:"Prefer"`
	// Country, Latitude and Longitude are the visitor's place. They are empty unless the request comes through a
	// trusted proxy or from a front end.
	Country   string `trusted:"X-Location-Country"`
	Latitude  string `trusted:"X-Location-Latitude"`
	Longitude string `trusted:"X-Location-Longitude"`
	Body      []byte `body:"raw"`
}

// headerRefused is the name of the header with the number of events that were refused in an accepted request. The
// header is absent if no event was refused.
const headerRefused = "Octavo-Events-Refused"

func (trackEventsRequest) OpenAPIHeaders() jsonschema.Dict {
	return jsonschema.Dict{
		headerRefused: jsonschema.Dict{
			"description": "How many events were refused because their types are unknown: only to front ends and with `Prefer: handling=lenient`; otherwise such an event refuses the request.",
			"schema":      jsonschema.Dict{"type": "integer"},
		},
		"Preference-Applied": jsonschema.Dict{"description": "`handling=lenient` if Prefer asked for it.", "schema": jsonschema.Text()},
	}
}

// eventsOfNobody is the largest number of events in a request without a token. The rate limit of an address counts only
// requests, so it does not limit events.
const eventsOfNobody = 500

func (h *siteInsights) track(ctx context.Context, c *access.Caller, r *trackEventsRequest) (answer frame.NoContent, err error) {
	handling := frame.Preference(r.Prefer, "handling")
	lenient := handling == "lenient"
	from := schema.ClientInfo{
		IP: c.IP, Place: statedPlace(r.Country, r.Latitude, r.Longitude), Now: c.Now, IdempotencyKey: schema.Or(r.IdempotencyKey, ""),
		// Only user tokens may send old events. This compares with the allowed kind, so that a new kind of token is not
		// allowed by accident.
		AnyPast: c.Principal.Kind == schema.TokenUser,
		// Front ends may be newer than this server and cannot send Prefer.
		KnownTypes: lenient || c.Principal.Kind == schema.TokenFrontEnd && handling != "strict",
	}
	if c.Principal.Kind == schema.TokenNone {
		from.MaxEvents = eventsOfNobody
	}
	unknown, err := h.intake.Accept(ctx, c.EventSite, r.Body, from)
	if err == nil && (lenient || unknown > 0) {
		answer.Header = map[string]string{}
		if lenient {
			answer.Header["Preference-Applied"] = "handling=lenient"
		}
		if unknown > 0 {
			answer.Header[headerRefused] = strconv.Itoa(unknown)
		}
	}
	return answer, err
}
