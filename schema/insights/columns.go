package insights

import (
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// columns is the column table. The schema, the log encoding, validation, queries and the documentation are derived from
// its rows.
//
// To add a column, add a row. If the event has a new member, add this member in event.go. Field ids never change and
// are never reused. A new field takes the next free id.
var columns = append([]Column{
	{
		Name: "datetime", Roles: Filter | Group | Time, Value: timeValue{}, Operators: comparison, Extra: extraInterval, Visit: []string{"time"},
		Fields: []Field{{id: 0, Name: "time", Type: "DateTime64(3,'UTC')", Codec: "Delta, ZSTD(1)", wire: wireTime{func(e *Event) int64 { return e.TimeMillis }}}},
		Doc: "When the event happened; cut to the minute (in ranges of at most 24 hours), hour, day, week (from " +
			"weekStart) or month in the request's time zone if an interval is given.",
		Expr: bucket,
	},
	stringDimension("url", NeverNull, stringField(1, "url", func(e *Event) string { return e.URL }), Content,
		"The page's address as sent, with its query."),
	{
		Name: "urlPath", Roles: Filter | Group, Value: pathValue{}, Operators: textual, Privacy: Content,
		Doc:  `The path of url, without query and fragment; "/" for a host alone.`,
		Expr: func(Arguments, Env) sqltree.Expr { return urlPath(sqltree.Col("url")) },
	},
	enumDimension("eventType", NeverNull, EventTypes, enumField(2, "type", EventTypes, func(e *Event) Code { return e.Type }), Content,
		"What happened."),

	metric("eventsCount", numberValue{}, comparison, "Number of events.",
		Events.count, Events),
	uniqueCount(
		"sessionsCount",
		"Number of different sessions. A session is what one visitor did under one session id: two visitors with "+
			"the same session id are two sessions. Nodes assign the sessions of browsers (eventDoor key and pixel) "+
			"approximately: they have no session id. Events of the types page_leave, code_copy and file_download are "+
			"of a session and make none: alone they count 0. A funnel by session finds the sessions that have them.",
		[]string{"session", "visitor"}, SessionEvents,
	).inSessions(sessionsInGroup),
	uniqueCount("visitorsCount", "Number of different visitors.", []string{"visitor"}),

	storedOnly(Field{id: 3, Name: "visitor", Type: "UInt64", Codec: hashCodec, wire: wireHash{func(e *Event) uint64 { return e.Visitor }}}, Pseudonym,
		"Keyed hash of the visitor id."),
	storedOnly(Field{id: 4, Name: "session", Type: "UInt64", Codec: hashCodec, wire: wireHash{func(e *Event) uint64 { return e.Session }}}, Pseudonym,
		"Keyed hash of the session id."),
	storedOnly(stringField(5, "visitor_id", func(e *Event) string { return e.VisitorID }), Personal,
		"The visitor id in clear, if the site asks for it."),
	storedOnly(stringField(6, "session_id", func(e *Event) string { return e.SessionID }), Personal,
		"The session id in clear, if the site asks for it."),

	sectionDimension("siteSection", repeatedField(7, "site_section", func(e *Event) string { return e.Section }),
		"The site section's id. Filters may have it with or without its prefix, sec_."),
	stringDimension("siteSpace", AsNull, repeatedField(8, "site_space", func(e *Event) string { return e.SiteSpace }), Content,
		"The site space's id."),
	stringDimension("siteShareKey", AsNull, stringField(9, "site_share_key", func(e *Event) string { return e.ShareKey }), Content,
		"The key of the share link that was used.").ofVisit(),
	enumDimension("displayContext", NeverNull, DisplayContexts, enumField(10, "display_context", DisplayContexts, func(e *Event) Code { return e.DisplayContext }), Content,
		"Where the content was shown.").ofVisit(),
	{
		Name: "page", Roles: Filter | Group, Value: pageValue{}, Operators: equality, Null: AsNull, Privacy: Content,
		Fields: []Field{
			repeatedField(11, "space", func(e *Event) string { return e.Space }),
			repeatedField(12, "page", func(e *Event) string { return e.Page }),
		},
		Doc:  "The page and its space; null outside any space.",
		Expr: pageOfSpace, Grouped: pagesByHash,
	},
	storedOnly(repeatedField(13, "revision", func(e *Event) string { return e.Revision }), Content, "The revision that was shown."),

	stringDimension("visitorGeoCountry", AsNull, repeatedField(14, "country", func(e *Event) string { return e.Country }), Coarse,
		"Country of the visitor (ISO 3166-1 alpha-2): what a trusted sender says, or that of the IP address if a geolocation database is configured.").ofVisit(),
	{
		Name: "visitorGeoPoint", Roles: Filter | Group, Value: pointValue{}, Operators: equality, Null: AsNull, Extra: extraPrecision, Privacy: Coarse, Visit: []string{"latitude", "longitude"},
		Fields: []Field{
			{id: 15, Name: "latitude", Type: "Float32", Codec: hashCodec, wire: wireDegrees{func(e *Event) float32 { return e.Latitude }}},
			{id: 16, Name: "longitude", Type: "Float32", Codec: hashCodec, wire: wireDegrees{func(e *Event) float32 { return e.Longitude }}},
		},
		Doc:  "The H3 cell of the visitor's location at the given precision, with the cell's centre.",
		Expr: point, Match: matchPoint,
		// Sort by the index of the cell, because the index determines the centre.
		Rank: &Rank{
			Of:  func(value sqltree.Expr) sqltree.Expr { return sqltree.Call("tupleElement", value, sqltree.Int(1)) },
			New: func() any { return new(string) },
		},
	},
	enumDimension("visitorDevice", NeverNull, Devices, enumField(17, "device", Devices, func(e *Event) Code { return e.Device }), Coarse,
		"Kind of device, by user agent.").ofVisit(),
	enumDimension("visitorBrowser", NeverNull, Browsers, enumField(18, "browser", Browsers, func(e *Event) Code { return e.Browser }), Coarse,
		"Browser, by user agent.").ofVisit(),
	enumDimension("visitorOS", NeverNull, OperatingSystems, enumField(19, "os", OperatingSystems, func(e *Event) Code { return e.OS }), Coarse,
		"Operating system, by user agent.").ofVisit(),
	enumDimension("visitorBot", AsEmpty, Bots, enumField(20, "bot", Bots, func(e *Event) Code { return e.Bot }), Coarse,
		`Which bot it was, by user agent; "" for a person.`).ofVisit(),
	stringDimension("visitorLanguage", AsNull, repeatedField(21, "language", func(e *Event) string { return e.Language }), Coarse,
		"The browser's language as sent.").ofVisit(),
	{
		Name: "visitorAuthenticated", Roles: Filter | Group, Value: flagValue{}, Operators: equality, Privacy: Coarse, Visit: []string{"authenticated"},
		Fields: []Field{{id: 22, Name: "authenticated", Type: "UInt8", Codec: hashCodec, wire: wireFlag{func(e *Event) bool { return e.Authenticated }}}},
		Doc:    "Whether the session carried claims or a visitor token.",
		Expr:   reads("authenticated"),
	},

	{
		Name: "eventLinkTargetValue", Roles: Filter | Group, Value: linkValue{}, Operators: equality, Null: Excluded, Privacy: Content,
		Fields: []Field{stringField(23, "link_target", func(e *Event) string { return e.LinkTarget })},
		Doc:    "What the link points to.",
		Expr:   reads("link_target"), HasValue: notEmpty("link_target"),
	},
	enumDimension("eventLinkTargetKind", Excluded, publishedLinkKinds, enumField(24, "link_kind", LinkKinds, func(e *Event) Code { return e.LinkKind }), Content,
		"What kind of target the link has: one of the kinds in the published contract. Links to OpenAPI specifications and tags have no value here, only in eventLinkTargetValue.").
		hasValueIf(publishedLinkKind),
	stringDimension("eventLinkTargetDomain", AsNull, stringField(25, "link_domain", func(e *Event) string { return e.LinkDomain }), Content,
		"The host of the link's address."),
	enumDimension("eventLinkPosition", Excluded, LinkPositions, enumField(26, "link_position", LinkPositions, func(e *Event) Code { return e.LinkPosition }), Content,
		"Where on the page the link was."),
	stringDimension("eventAPIOperationPath", AsNull, stringField(27, "api_path", func(e *Event) string { return e.OperationPath }), Content,
		"Path of the API operation."),
	stringDimension("eventAPIOperationMethod", AsNull, stringField(28, "api_method", func(e *Event) string { return e.OperationMethod }), Content,
		"Method of the API operation as sent: `get` and `GET` are different."),
	stringDimension("eventSearchQuery", Excluded, stringField(29, "search_query", func(e *Event) string { return e.Query }), Personal,
		"What was searched or asked."),
	stringDimension("eventSearchResultRecordId", AsNull, stringField(30, "search_record", func(e *Event) string { return e.ResultRecord }), Content,
		"The record that was opened from the results."),
	{
		Name: "eventSearchResultPage", Roles: Filter | Group, Value: pageValue{}, Operators: equality, Null: AsNull,
		Privacy: Content,
		Fields: []Field{
			stringField(31, "search_space", func(e *Event) string { return e.ResultSpace }),
			stringField(32, "search_page", func(e *Event) string { return e.ResultPage }),
		},
		Doc: "The page that was opened from the results, with its space; null if the sender named no page.",
		Expr: func(Arguments, Env) sqltree.Expr {
			return pageIn(sqltree.Col("search_space"), sqltree.Col("search_page"))
		},
	},
	enumDimension("eventPageFeedbackRating", Excluded, FeedbackRatings, enumField(33, "feedback_rating", FeedbackRatings, func(e *Event) Code { return e.FeedbackRating }), Content,
		"Rating of the page, in events that have one."),
	stringDimension("eventPageFeedbackComment", Excluded, stringField(34, "feedback_comment", func(e *Event) string { return e.FeedbackComment }), Personal,
		"Comment on the page."),
	{
		Name: "eventAskResponseRating", Roles: Filter | Group, Value: intValue{-1, 1}, Operators: comparison,
		Null: AsZero, Privacy: Content,
		Fields:   []Field{{id: 35, Name: "ask_rating", Type: "Int8", Codec: hashCodec, wire: wireCode{func(e *Event) int8 { return e.AskRating }}}},
		Doc:      "Rating of an answer: 1 or -1, and 0 for an event without a rating.",
		Expr:     func(Arguments, Env) sqltree.Expr { return sqltree.Call("toInt64", sqltree.Col("ask_rating")) },
		HasValue: func() sqltree.Expr { return sqltree.Bin(sqltree.Ne, sqltree.Col("ask_rating"), sqltree.Int(0)) },
	},
	storedOnly(stringField(36, "ask_response", func(e *Event) string { return e.AskResponse }), Content, "The answer that was rated."),

	metric("pageFeedbackRating", ratingValue{[]string{"ok", "good", "bad"}}, nil,
		"Number of page ratings of each kind. Only page_post_feedback events count: a page_post_feedback_comment repeats the rating that it comments on. Ordered by good minus bad.",
		allOf(feedbackCounters), feedbackCounters...).balanceOf(2, 3),
	metric("askResponseRating", ratingValue{[]string{"positive", "negative"}}, nil,
		"Number of answers rated up and down. Ordered by positive minus negative.",
		allOf(askCounters), askCounters...).balanceOf(1, 2),

	uniqueCount("peopleCount",
		"Number of different visitors, of events that visitors' browsers sent: without those in the display "+
			"contexts server and mcp, and those that only servers send (page_markdown_request, agent_feedback, "+
			"llms_request, mcp_request, rss_request), for which each request is another "+
			"visitor.", []string{"visitor"}, People),
	sessionMetric("bounceRate", "Share of bounces: sessions with exactly one page view among sessions with at least one, from 0 to 1; null if there are none.",
		bounceRate, sessionViews),
	sessionMetric("sessionDuration",
		"Mean time from a session's first event to its last, in seconds; null if there are no sessions. "+
			"The last event may be a page_leave, the best measure of the last page.",
		sessionDuration, sessionMillis),
	sessionMetric("pagesPerSession", "Mean number of page views of the sessions that have at least one; null if there are none.",
		pagesPerSession, sessionViews),
	sessionPage("entryPage", "The page of the session's first page view, with its space; null outside any space, "+
		"and in sessions without page views. Page views of one moment are in the order in which they were sent.",
		sessionEntry),
	sessionPage("exitPage", "The page of the session's last page view, with its space; null outside any space, "+
		"and in sessions without page views. Page views of one moment are in the order in which they were sent.",
		sessionExit),

	stringDimension("referrer", AsEmpty, stringField(37, "referrer", func(e *Event) string { return e.Referrer }), Coarse,
		`The page the visitor came from; "" for none.`).ofVisit(),
	stringDimension("referrerDomain", AsEmpty, repeatedField(38, "referrer_domain", func(e *Event) string { return e.ReferrerDomain }), Coarse,
		`The host of referrer, without a leading "www."; "" for none.`).ofVisit(),
	stringDimension("utmSource", AsEmpty, stringField(39, "utm_source", func(e *Event) string { return e.UTMSource }), Coarse, "utm_source of url.").ofVisit(),
	stringDimension("utmMedium", AsEmpty, stringField(40, "utm_medium", func(e *Event) string { return e.UTMMedium }), Coarse, "utm_medium of url.").ofVisit(),
	stringDimension("utmCampaign", AsEmpty, stringField(41, "utm_campaign", func(e *Event) string { return e.UTMCampaign }), Coarse, "utm_campaign of url.").ofVisit(),
	stringDimension("utmTerm", AsEmpty, stringField(42, "utm_term", func(e *Event) string { return e.UTMTerm }), Coarse, "utm_term of url.").ofVisit(),
	stringDimension("utmContent", AsEmpty, stringField(43, "utm_content", func(e *Event) string { return e.UTMContent }), Coarse, "utm_content of url.").ofVisit(),

	{
		Name: "visitorClaimProperty", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: Excluded, Privacy: Personal, Visit: []string{"claims"},
		Several: true,
		Doc: "Name of a claim. An event counts once for each of its claims. " +
			"A filter selects events that have any of the names.",
		Expr: func(Arguments, Env) sqltree.Expr { return ClaimNames() },
		// arrayJoin already leaves out events without claims.
		HasValue: HasClaims,
		Match: func(_ Arguments, values []any) sqltree.Expr {
			return sqltree.Call("hasAny", claimNames(), sqltree.Param(sqltree.ArrayOf(typeString), values))
		},
		Texts: claimNameTexts,
	},
	{
		Name: "visitorClaim", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: AsEmpty, Extra: extraClaim, Privacy: Personal, Visit: []string{"claims"},
		Fields: []Field{{id: 44, Name: "claims", Type: "Map(String, String)", Codec: textCodec, wire: wireClaims{func(e *Event) []Claim { return e.Claims }}}},
		Doc:    `Value of the claim named by claim (nested claims by dotted path), as text; "" for visitors without it. Groups take an array as a whole, as JSON; a filter finds it by its text or by any of its members.`,
		Expr:   func(a Arguments, _ Env) sqltree.Expr { return ClaimOf(sqltree.Param(typeString, a.Claim)) },
		Match:  matchClaim, Texts: claimTexts,
	},

	stringDimension("eventAdDomain", Excluded, stringField(45, "ad_domain", func(e *Event) string { return e.AdDomain }), Content, "Domain of the ad."),
	storedOnly(stringField(46, "ad_zone", func(e *Event) string { return e.AdZone }), Content, "Zone of the ad."),
	enumDimension("eventAdPlacement", Excluded, AdPlacements, enumField(47, "ad_placement", AdPlacements, func(e *Event) Code { return e.AdPlacement }), Content,
		"Where the ad was."),
	enumDimension("eventTrademarkPlacement", Excluded, TrademarkPlacements, enumField(48, "trademark_placement", TrademarkPlacements, func(e *Event) Code { return e.TrademarkPlacement }), Content,
		"Where the trademark was."),
	enumDimension("eventLLMSVariant", AsNull, LLMSVariants, enumField(49, "llms_variant", LLMSVariants, func(e *Event) Code { return e.LLMSVariant }), Content,
		"Which llms.txt was requested."),
	enumDimension("eventMarkdownSource", AsNull, MarkdownSources, enumField(50, "markdown_source", MarkdownSources, func(e *Event) Code { return e.MarkdownSource }), Content,
		"What asked for a page's Markdown."),
	enumDimension("eventDoor", NeverNull, EventDoors, doorField(51, "door", doorOf), Content,
		"How the event came: `api` is a token or `anonymousEvents`, `key` a browser's post under a publishable key, "+
			"and `pixel` an image under a publishable key."),
	stringDimension("eventKey", AsNull, repeatedField(52, ColumnEventKey, keyOf), Content,
		"The publishable key that the event came under, with its generation: `<key id>.<generation>`; null for `api`. "+
			"Anybody can see a publishable key and invent events under it. A filter leaves out the events of a "+
			"generation, and an administrator can erase them in one call."),
	{
		Name: "eventPageNotFoundType", Roles: Filter | Group, Value: constantNull{enumValue{enum: notFoundTypes, null: true}}, Operators: equality, Null: AsNull, Privacy: Content,
		Doc:  "Why a page was not found. Always null: no event has this yet.",
		Expr: func(Arguments, Env) sqltree.Expr { return sqltree.Call("toString", sqltree.Str("")) },
	},

	measuredDimension(
		"searchResults", measuredField(53, "search_results", func(e *Event) Measured { return e.Results }),
		0, MaxResults,
		"How many results a search found; null if the sender did not say. "+
			"The filter 0 selects searches without a result. "+
			"Octavo's own searches record no event, because the page that shows the results knows the visitor and "+
			"sends the event.",
	),
	measuredDimension(
		"engagedSeconds", measuredField(54, "engaged_seconds", func(e *Event) Measured { return e.EngagedSeconds }),
		0, MaxEngagedSeconds,
		"How many seconds the page was visible and in use, in page_leave events; null if not measured.",
	),
	measuredDimension(
		"scrollDepth", measuredField(55, "scroll_depth", func(e *Event) Measured { return e.ScrollDepth }),
		0, MaxScrollDepth,
		"How deep the page was read, in percent of its height, in page_leave events; null if not measured.",
	),
	measuredMeans[0], measuredMeans[1],
	stringDimension(
		"pageTitle", AsNull, repeatedField(56, "page_title", func(e *Event) string { return e.Title }), Content,
		"The page's title as the browser showed it; null if it was not sent.",
	),
	enumDimension(
		"agentClass", AsNull, AgentClasses,
		enumField(57, "agent_class", AgentClasses, func(e *Event) Code { return e.AgentClass }), Coarse,
		"What the visitor is, by user agent: a person; a search engine's crawler; a crawler that collects training "+
			"data; a fetcher that an assistant's user asked for (user-asked); a program that writes code (coding); "+
			"a maker of link previews; a monitor of availability; a tool, such as an HTTP client, a link checker or "+
			"a feed reader; or an unknown program. Exactly people have the visitorBot \"\". Null for events without "+
			"a user agent, which have this visitorBot too, and for events from before the column.",
	).ofVisit(),
	stringDimension(
		"agentOperator", AsNull, repeatedField(58, "agent_operator", func(e *Event) string { return e.AgentOperator }),
		Coarse,
		"Whose program the visitor is, by user agent, such as OpenAI; null for people and unknown operators.",
	).ofVisit(),
	enumDimension(
		"agentVerified", AsNull, AgentVerifications,
		enumField(59, "agent_verified", AgentVerifications, func(e *Event) Code { return e.AgentVerified }), Coarse,
		"How the program's name agrees with the addresses that its operator publishes: verified if the visitor's "+
			"address is among them; impostor if session.ip is none of them, and the event is less than 60 days from "+
			"the date of the list; otherwise claimed. Null for people and for events without a user agent.",
	).ofVisit(),
	enumDimension(
		"contentForm", AsNull, ContentForms,
		enumField(60, "content_form", ContentForms, func(e *Event) Code { return e.ContentForm }), Content,
		"The form in which the content was asked for, by the event's type and address; api is an API's "+
			"specification. Null for events from before the column.",
	),
	measuredDimension(
		"httpStatus", measuredField(61, "http_status", func(e *Event) Measured { return e.HTTPStatus }),
		MinHTTPStatus, MaxHTTPStatus,
		"The status of the answer to the request for the page; null if it was not sent.",
	),

	{
		Name: "dayOfWeek", Roles: Filter | Group, Value: intValue{1, 7}, Operators: comparison, Privacy: Content, Visit: []string{"time"},
		Doc: "Day of the week, in the request's time zone: 1 is Monday, 7 is Sunday.",
		Expr: func(_ Arguments, env Env) sqltree.Expr {
			return sqltree.Call("toInt64", sqltree.Call("toDayOfWeek", env.Zone.localTime()))
		},
	},
	{
		Name: "hourOfDay", Roles: Filter | Group, Value: intValue{0, 23}, Operators: comparison, Privacy: Content, Visit: []string{"time"},
		Doc: "Hour of the day, in the request's time zone.",
		Expr: func(_ Arguments, env Env) sqltree.Expr {
			return sqltree.Call("toInt64", sqltree.Call("toHour", env.Zone.localTime()))
		},
	},
}, channelColumns()...)

// These are the largest numbers that an event may have, and the range of HTTP status codes.
const (
	MaxResults        = 1_000_000
	MaxEngagedSeconds = 86_400
	MaxScrollDepth    = 100
	MinHTTPStatus     = 100
	MaxHTTPStatus     = 599
)

// balanceOf returns the column c of a metric with several counts, ordered by the difference between two of the counts.
func (c Column) balanceOf(plus, minus int64) Column {
	c.Rank = &Rank{
		Of: func(value sqltree.Expr) sqltree.Expr {
			return sqltree.Bin(sqltree.Sub, sqltree.Call("tupleElement", value, sqltree.Int(plus)), sqltree.Call("tupleElement", value, sqltree.Int(minus)))
		},
		New: func() any { return new(int64) },
	}
	return c
}

// allOf returns a function that builds the aggregate of a metric with several counts: a tuple of the counts.
func allOf(counters []*Counter) func(Env) sqltree.Expr {
	return func(env Env) sqltree.Expr {
		counts := make([]sqltree.Expr, len(counters))
		for i, c := range counters {
			counts[i] = c.count(env)
		}
		return sqltree.Call("tuple", counts...)
	}
}
