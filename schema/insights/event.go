package insights

// Event is one visitor event after validation and enrichment, ready for the log. Its strings may share memory with the
// request's body, so an Event must not be used after the buffer of the body is reused. Encoders copy the strings.
//
// An empty string, a zero code, a zero rating and a zero Measured mean "absent".
type Event struct {
	TimeMillis int64 // event time, milliseconds since 1970 UTC
	Type       Code  // EventTypes

	// Visitor and Session are keyed hashes of the ids that were sent. They are never 0.
	Visitor, Session uint64
	// VisitorID and SessionID are the ids in plain text. They are set only if a setting of the site requires it.
	VisitorID, SessionID string

	URL, Referrer, ReferrerDomain                          string
	UTMSource, UTMMedium, UTMCampaign, UTMTerm, UTMContent string
	DisplayContext                                         Code
	Section, SiteSpace, ShareKey, Space, Page, Revision    string

	Country             string // ISO 3166-1 alpha-2, upper case
	Latitude, Longitude float32
	HasPoint            bool // whether Latitude and Longitude are known

	Device, Browser, OS, Bot Code
	Language                 string

	Claims        []Claim // flattened to dotted paths, without duplicates
	Authenticated bool

	LinkTarget             string // canonical JSON of the content reference
	LinkKind, LinkPosition Code
	LinkDomain             string

	OperationPath, OperationMethod string

	Query                                 string
	ResultSpace, ResultPage, ResultRecord string
	FeedbackRating                        Code
	FeedbackComment                       string
	AskRating                             int8 // 1 or -1; 0 if there is no rating
	AskResponse                           string
	AdDomain, AdZone                      string
	AdPlacement, TrademarkPlacement       Code
	LLMSVariant, MarkdownSource           Code

	Title                       string   // title of the page in the browser
	Results                     Measured // number of results of a search
	EngagedSeconds, ScrollDepth Measured // values of a visit to a page; the depth is a percentage
	HTTPStatus                  Measured // status of the request for the page

	AgentClass, AgentVerified, ContentForm Code
	AgentOperator                          string
	Door                                   Code   // code of EventDoors; 0 means api
	PublishableKey                         string // the key's id and generation: <key id>.<generation>
}

// Measured is a number that an event may lack. The zero value means that the number was not measured.
type Measured uint32

// MeasuredAs returns the value of a number that was measured.
func MeasuredAs(n uint32) Measured { return Measured(n + 1) }

// Number returns the number. `ok` is false if it was not measured.
func (m Measured) Number() (n uint32, ok bool) { return uint32(m - 1), m != 0 }

// Claim is one flattened visitor claim.
type Claim struct{ Name, Value string }

// Reset empties the event for reuse. The next event reuses the memory of Claims.
func (e *Event) Reset() { *e = Event{Claims: e.Claims[:0]} }
