package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

func code(e *insights.Enum, word string) insights.Code {
	c, ok := e.Code(word)
	if !ok {
		panic(word)
	}
	return c
}

// fixture returns the events of the case files. They are few enough to count by hand.
func fixture() []insights.Event {
	at := func(s string) int64 {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			panic(err)
		}
		return t.UnixMilli()
	}
	base := insights.Event{
		Type: code(insights.EventTypes, "page_view"), URL: "https://docs.example.com/guide?utm_source=news", Visitor: 1, Session: 11,
		DisplayContext: code(insights.DisplayContexts, "site"), Device: code(insights.Devices, "desktop"),
		Browser: code(insights.Browsers, "firefox"), OS: code(insights.OperatingSystems, "linux"),
	}
	with := func(f func(*insights.Event)) insights.Event {
		e := base
		f(&e)
		return e
	}
	berlin := func(e *insights.Event) {
		e.Country, e.Latitude, e.Longitude, e.HasPoint = "DE", 52.52, 13.405, true
	}
	return []insights.Event{
		with(func(e *insights.Event) {
			e.TimeMillis, e.Space, e.Page, e.Section, e.UTMSource = at("2026-03-15T12:30:45.678Z")-1, "sp1", "pg1", "sec1", "news"
			berlin(e)
			e.Claims, e.Authenticated = []insights.Claim{{Name: "plan", Value: "pro"}, {Name: "org.id", Value: "7"}}, true
		}),
		with(func(e *insights.Event) {
			e.TimeMillis, e.Space, e.Page = at("2026-03-15T11:00:00Z"), "sp1", "pg2"
			berlin(e)
			e.Claims, e.Authenticated = []insights.Claim{{Name: "org.id", Value: "7"}, {Name: "plan", Value: "pro"}}, true
		}),
		with(func(e *insights.Event) {
			e.TimeMillis, e.Visitor, e.Session, e.Space = at("2026-03-15T10:59:59.999Z"), 2, 21, "sp1"
			e.Device, e.Browser, e.OS = code(insights.Devices, "mobile"), code(insights.Browsers, "safari"), code(insights.OperatingSystems, "ios")
			e.Country, e.Language, e.Referrer, e.ReferrerDomain = "FR", "fr-FR", "https://www.google.com/", "google.com"
		}),
		with(func(e *insights.Event) {
			e.TimeMillis, e.Visitor, e.Session, e.Bot = at("2026-03-14T00:00:00Z"), 3, 31, code(insights.Bots, "gptbot")
			e.DisplayContext, e.Page = code(insights.DisplayContexts, "mcp"), "pg9" // without a space
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis, e.Visitor, e.Session = code(insights.EventTypes, "search_type_query"), at("2026-03-09T08:00:00Z"), 2, 22
			e.Query, e.Country = "it's \"quoted\" \\ \n {x:String} -- ?", "FR"
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis, e.Visitor, e.Session = code(insights.EventTypes, "page_post_feedback_comment"), at("2026-03-08T23:59:59Z"), 4, 41
			e.FeedbackRating, e.FeedbackComment = code(insights.FeedbackRatings, "good"), "great"
			e.Claims = []insights.Claim{{Name: "plan", Value: "free"}}
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis, e.Visitor, e.Session = code(insights.EventTypes, "page_post_feedback"), at("2026-02-28T12:00:00Z"), 4, 42
			e.FeedbackRating = code(insights.FeedbackRatings, "bad")
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis = code(insights.EventTypes, "ask_rate_response"), at("2026-02-28T13:00:00Z")
			e.Query, e.AskRating, e.AskResponse = "how?", -1, "r1"
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis = code(insights.EventTypes, "link_click"), at("2025-12-31T23:59:59Z")
			e.LinkTarget, e.LinkDomain = `{"kind":"url","url":"https://x.example/?a=1&b=2"}`, "x.example"
			e.LinkKind, e.LinkPosition = code(insights.LinkKinds, "url"), code(insights.LinkPositions, "header")
		}),
		with(func(e *insights.Event) {
			e.Type, e.TimeMillis = code(insights.EventTypes, "api_client_request"), at("1970-01-01T06:15:00Z")
			e.OperationPath, e.OperationMethod = "/v1/pets", "get"
		}),
	}
}
