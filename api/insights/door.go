package insights

import (
	"context"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// DoorMetrics counts facts about the operations with which browsers post events.
type DoorMetrics interface {
	// ObserveCappedKey counts a publishable key that has reached its daily cap of events, once a day.
	ObserveCappedKey()
}

// door has the operations with which browsers post a site's events, using a publishable key.
type door struct {
	intake  EventIntake
	metrics DoorMetrics
}

// doorBodyLimit is the largest size of a browser's batch in bytes. A page that closes can send at most 64 KiB.
const doorBodyLimit = 64 << 10

func doorOperations(h *door) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/e/{key}", Root: true, ID: "postBrowserEvents", Tag: "insights",
			Doc: "Take in events that a browser posts under a publishable key, from the pages of the key's hosts. " +
				"An answer of 204 means that they are stored durably, or that the reader opted out (Sec-GPC). " +
				"The same id with the same bytes stores nothing again for 24 hours. " +
				"Every media type is accepted, so that a browser need not ask first (CORS). " +
				"In a second, an address may send OCTAVO_PUBLIC_RATE_LIMIT requests (100 by default), a key " +
				"OCTAVO_PUBLISHABLE_KEY_RATE_LIMIT (1,000), and all keys of a site twice that. " +
				"Beyond these limits and the key's dailyCap the answer is 429. An addition to the published contract.",
			Scope: access.WithPublishableKey(), Status: http.StatusNoContent,
			BodyLimit: doorBodyLimit, Accepts: frame.MediaAny, Timeout: frame.Unbounded, CORS: true,
			Handler: frame.Handle(h.post),
		},
		{
			Method: http.MethodGet, Path: "/e/{key}.gif", Root: true, ID: "showBrowserPixel", Tag: "insights",
			Doc: "Take in the view of a page that shows this image, under a publishable key, and answer with a " +
				"transparent pixel. " +
				"The answer is the image for every outcome. Its status is 404 for a key that does not work, 429 " +
				"beyond " +
				"the limits, which are those of postBrowserEvents, and 200 for an event that is refused. " +
				"An addition to the published contract.",
			Scope: access.WithPublishableKey(), Status: http.StatusOK,
			Produces: []string{"image/gif"}, Timeout: frame.Unbounded, Handler: frame.Handle(h.pixel),
		},
	}
}

// browser has the headers of a request that describe the reader and the page.
type browser struct {
	Origin    string `hint:"Origin"`
	Referer   string `hint:"Referer"`
	UserAgent string `hint:"User-Agent"`
	GPC       string `hint:"Sec-GPC"`
	// Country, Latitude and Longitude are the reader's place. They are empty if the request does not come through a
	// trusted proxy.
	Country   string `trusted:"X-Location-Country"`
	Latitude  string `trusted:"X-Location-Latitude"`
	Longitude string `trusted:"X-Location-Longitude"`
}

// page returns the host of the page, and whether the request names a page. If a page hides its address, a browser sends
// null as the origin.
func (b *browser) page() (host string, named bool) {
	address := b.Origin
	if address == "" || address == "null" {
		address = b.Referer
	}
	return schema.HostOf(address), address != ""
}

// info returns the values of the request that EventIntake.AcceptDoor needs.
func (b *browser) info(c *access.Caller) schema.DoorInfo {
	return schema.DoorInfo{
		IP: c.IP, UserAgent: b.UserAgent, Place: statedPlace(b.Country, b.Latitude, b.Longitude), Now: c.Now,
		Key: c.Key.ID, Generation: c.Key.Generation, Hosts: c.Key.Hosts,
	}
}

// admit reports whether the request's events may be accepted. If they may not, it counts the refusal, and the body is
// not read. `err` is nil if the reader opted out, because the answer is then a success.
func (h *door) admit(c *access.Caller, b *browser) (taken bool, err error) {
	refuse := func(reason *insights.Reason, err error) (bool, error) {
		h.intake.RefuseUnread(c.EventSite.SiteID, reason)
		return false, err
	}
	if c.Key.RespectGPC && b.GPC == "1" {
		return refuse(insights.OptedOut, nil)
	}
	if first, err := c.Key.WithinDailyCap(c.Now); err != nil {
		if first {
			h.metrics.ObserveCappedKey()
		}
		return refuse(insights.DailyCap, err)
	}
	if host, named := b.page(); named && !schema.HostAllowed(c.Key.Hosts, host) {
		return refuse(insights.HostNotAllowed, schema.Forbidden("the key does not list the host of the page: "+host))
	}
	return true, nil
}

type doorRequest struct {
	browser
	// Late is the number of milliseconds between the first attempt to send the batch and this attempt.
	Late *int   `query:"late" rules:"range=0..86400000"`
	Body []byte `body:"raw"`
}

func (h *door) post(ctx context.Context, c *access.Caller, r *doorRequest) (frame.NoContent, error) {
	taken, err := h.admit(c, &r.browser)
	if !taken {
		return frame.NoContent{}, err
	}
	from := r.info(c)
	from.Late = time.Duration(schema.Or(r.Late, 0)) * time.Millisecond
	if err := h.intake.AcceptDoor(ctx, c.EventSite, r.Body, from); err != nil {
		return frame.NoContent{}, err
	}
	c.Key.CountEvents(countEvents(r.Body), c.Now)
	return frame.NoContent{}, nil
}

type pixelRequest struct {
	browser
	URL      string `query:"url"`
	Referrer string `query:"referrer"`
	Title    string `query:"title"`
}

// pixelBatch is the batch that a request for the image stands for. It has one event. It has no id, because requests for
// images are not retried.
type pixelBatch struct {
	Events [1]pixelEvent `json:"events"`
}

type pixelEvent struct {
	Type     string `json:"type"`
	URL      string `json:"url,omitempty"`
	Referrer string `json:"referrer,omitempty"`
	Title    string `json:"title,omitempty"`
}

func (h *door) pixel(ctx context.Context, c *access.Caller, r *pixelRequest) (frame.Pixel, error) {
	// HEAD means that nobody saw the page: programs that check links send it.
	if c.Head {
		return frame.Pixel{}, nil
	}
	taken, err := h.admit(c, &r.browser)
	if !taken {
		return frame.Pixel{}, err
	}
	view := pixelEvent{Type: "page_view", URL: r.URL, Referrer: r.Referrer, Title: r.Title}
	if view.URL == "" {
		view.URL = r.Referer
	}
	body, err := schema.EncodeJSON(pixelBatch{Events: [1]pixelEvent{view}})
	if err != nil {
		return frame.Pixel{}, err
	}
	from := r.info(c)
	from.Pixel = true
	if err := h.intake.AcceptDoor(ctx, c.EventSite, body, from); err != nil {
		return frame.Pixel{}, err
	}
	c.Key.CountEvents(1, c.Now)
	return frame.Pixel{}, nil
}

// OpenAPIBody describes the members common to all events; it does not restrict other members.
func (*doorRequest) OpenAPIBody() jsonschema.Dict {
	event := jsonschema.Object(jsonschema.Dict{
		"type": jsonschema.Enum(insights.EventTypes.Words()),
		"age": jsonschema.Documented(jsonschema.Dict{"type": "integer", "minimum": 0, "maximum": 86_400_000,
			"default": 0},
			"How many milliseconds before the first attempt to send the batch the event was. The browser's clock is "+
				"not used."),
		"url":      jsonschema.Dict{"type": "string", "format": "uri"},
		"referrer": jsonschema.Text(), "language": jsonschema.Text(), "title": jsonschema.Text(),
		"status": jsonschema.Documented(jsonschema.Dict{"type": "integer", "minimum": insights.MinHTTPStatus,
			"maximum": insights.MaxHTTPStatus}, "The status of the answer to the request for the page."),
	}, "type", "url")
	events := jsonschema.Array(event)
	events["maxItems"] = maxDoorEvents
	return jsonschema.Object(jsonschema.Dict{
		"id": jsonschema.Documented(jsonschema.Dict{"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
			"Names the batch, so that sending it again is harmless."),
		"events": events,
	}, "id", "events")
}
