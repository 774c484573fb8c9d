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
	// These members have the visitor's place, as a trusted sender states it.
	Country   string `trusted:"X-Location-Country"`
	Latitude  string `trusted:"X-Location-Latitude"`
	Longitude string `trusted:"X-Location-Longitude"`
	Body      []byte `body:"raw"`
}

// headerRefused has the number of refused events of an accepted request. The header is absent if no event was refused.
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

// eventsOfNobody bounds the events of a request without a token: limits by address count requests.
const eventsOfNobody = 500

func (h *siteInsights) track(ctx context.Context, c *access.Caller, r *trackEventsRequest) (answer frame.NoContent, err error) {
	handling := frame.Preference(r.Prefer, "handling")
	lenient := handling == "lenient"
	from := schema.ClientInfo{
		IP: c.IP, Place: statedPlace(r.Country, r.Latitude, r.Longitude), Now: c.Now, IdempotencyKey: schema.Or(r.IdempotencyKey, ""),
		// Test for the allowed kind, not for "not a site key", because future token kinds must be admitted
		// deliberately.
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
