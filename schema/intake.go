package schema

import (
	"net/netip"
	"time"
)

// EventSite has the facts about a site that the intake needs to accept events of this site.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs is true if the site stores visitor and session ids in plain text, in addition to their keyed
	// hashes.
	StoreClearIDs bool
}

// ClientInfo has the facts about a client that posts events. It does not have the events.
type ClientInfo struct {
	// IP is the address of the client. The intake determines the country from it, and then drops it.
	IP netip.Addr
	// Place is the place of the client, as a trusted sender has reported it.
	Place Place
	// Now is the time at which the request arrived.
	Now time.Time
	// IdempotencyKey identifies a request. If a client sends a request again with the same key, its events are not
	// stored twice. IdempotencyKey is empty if the request has no key.
	IdempotencyKey string
	// AnyPast is true if the client may post events of any time in the past. Other callers may post only recent events.
	AnyPast bool
	// MaxEvents is the largest number of events in the request, if it is lower than the intake's own limit. If it is 0,
	// only the intake's limit applies.
	MaxEvents int
	// KnownTypes is true if the client may send events of types that are newer than this version. The intake then
	// refuses only the events of unknown types. Otherwise it refuses the whole request.
	KnownTypes bool
}

// DoorInfo has the facts about a batch that a browser posts with a site's publishable key. It does not have the batch.
type DoorInfo struct {
	// IP is the address of the browser, and UserAgent is its user agent. The intake determines the visitor from IP and
	// UserAgent, and the place from IP. Then it drops IP and UserAgent.
	IP        netip.Addr
	UserAgent string
	// Place is the place of the browser, as a trusted sender has reported it.
	Place Place
	// Now is the time at which the request arrived.
	Now time.Time
	// Late is the time between the first attempt to send the batch and this attempt. For each event, the browser sends
	// the age that the event had at the first attempt.
	Late time.Duration
	// Key is the id of the publishable key. Generation is the number of the key's generation, counted from 1. Each
	// rotation of the key begins a new generation. The column eventKey of events contains the id and the generation.
	Key        string
	Generation int
	// Pixel is true if a page sends the batch by loading an image. Such a batch has one page view.
	Pixel bool
	// Hosts has the hosts from which browsers may post with this key. An entry is a host name, or *.example.com for
	// every host below example.com. If the page of an event is on another host, the intake refuses the event.
	Hosts []string
}

// DoorSalt is a salt for one day. On this day, the ids of browsers' visitors are made from it.
type DoorSalt struct {
	// Day is the day, as the number of days since 1970 in UTC.
	Day  int32
	Salt [32]byte
	// MadeAt is the time at which the salt was made. It is zero if the salt is not stored yet.
	MadeAt time.Time
}

// Place is a place on earth. Only the parts that are known are set.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code in upper case. It is empty if the country is unknown.
	Country             string
	Latitude, Longitude float32
	HasPoint            bool
}

// InsightsView limits which events the queries of a caller can read. Its members have the form that they have in
// requests.
type InsightsView struct {
	// Where has conditions that every event must meet, as JSON in the form of a request's member `where`. If Where is
	// empty, there are no conditions.
	Where []byte
	// Segments are the ids of the site's saved segments. Every event must be in all of these segments.
	Segments []string
	// Ranges has the ranges to which queries are limited. It is a JSON list of values that the member `range` of a
	// request can have. If it is empty, the range of a query is not limited.
	Ranges []byte
	// Timezone is the time zone of the days in Ranges. If it is "", the time zone is UTC.
	Timezone string
}

// QueryOrigin identifies the caller of a query, and the site whose events the query reads.
type QueryOrigin struct {
	OrganizationID string
	SiteID         string
	// TokenID is the id of the caller's token. All queries with a token share one limit.
	TokenID string
	// RequestID identifies the query in the logs.
	RequestID string
	// Fresh is true if the result must not use cached parts of an earlier result.
	Fresh bool
	// UserID is the id of the caller, if the caller is a user. The query may use the personal segments of this user.
	// Otherwise UserID is empty.
	UserID string
	// View limits the events that the query reads. If it is nil, the query may read all events of the site.
	View *InsightsView
}

// KeyClaim is the stored state of an idempotency key. It is also the result of claiming the key.
type KeyClaim struct {
	// BodyHash is the SHA-256 of the request's body without its Content-Encoding.
	BodyHash [32]byte
	// MessageID is the id of the log message with the request's events. The message is in Partition, at Offset or
	// later.
	MessageID [16]byte
	Partition int
	Offset    int64
	// Attempt identifies the attempt that has claimed the key most recently.
	Attempt int32
	State   KeyState
	// Left is the time until the key of a done request can be used again. It is zero in other states.
	Left time.Duration
}

// KeyState is the result of claiming an idempotency key.
type KeyState int

// These are the states of a key.
const (
	// KeyNew means that the key was not used before. The caller has claimed it with the caller's values.
	KeyNew KeyState = iota
	// KeyOpen means that the caller has claimed the key of an earlier attempt. The earlier attempt did not finish. So
	// the caller must search the log for the message of that attempt.
	KeyOpen
	// KeyBusy means that another attempt with the key is in progress.
	KeyBusy
	// KeyDone means that the events of the request are already stored.
	KeyDone
	// KeyReused means that the key was already used with another body.
	KeyReused
)

// RefusedDay has what was refused on one day in UTC: the number of refused events, and the number of requests that were
// refused before they were read.
type RefusedDay struct {
	Date     string `json:"date"`
	Events   uint64 `json:"events"`
	Requests uint64 `json:"requests"`
}

// EventBalance says what has happened to the events of a site in one process since the process started. In the sums
// over all processes, received + earlier = repeated + refused + stored + deadLettered + erased + inFlight.
type EventBalance struct {
	Object string    `json:"object"`
	Site   string    `json:"site"`
	Since  time.Time `json:"since"`
	// Received is the number of events in all requests that could be read. Accepted is the number of events that were
	// durably written to the log. Repeated is the number of events in requests whose Idempotency-Key shows that they
	// were already stored. Refused has the numbers of refused events, by reason.
	Received uint64            `json:"received"`
	Accepted uint64            `json:"accepted"`
	Repeated uint64            `json:"repeated"`
	Refused  map[string]uint64 `json:"refused"`
	// UnreadRequests has the numbers of requests that were refused before they were read, by reason. Either the process
	// had no free memory for them, or the rules of a publishable key refused them. Received does not include the events
	// of these requests.
	UnreadRequests map[string]uint64 `json:"unreadRequests"`
	// RefusedByDay has the refused events and unread requests of the last 30 days. The oldest day comes first. Days
	// without refusals are left out.
	RefusedByDay []RefusedDay `json:"refusedByDay"`
	// Stored is the number of events from the log that the sink of the process has stored. DeadLettered is the number
	// of events that this sink has put into the dead letters.
	Stored       uint64 `json:"stored"`
	DeadLettered uint64 `json:"deadLettered"`
	// Erased is the number of events that were not stored, because their visitor was erased after the events were
	// received.
	Erased uint64 `json:"erased,omitzero"`
	// Earlier is the number of events that the process stored but did not receive. Another process accepted these
	// events, or this process accepted them before a restart.
	Earlier uint64 `json:"earlier,omitzero"`
	// InFlight is the number of all other events. These events are not stored yet, or their request has no response
	// yet.
	InFlight int64 `json:"inFlight"`
	// Scope is always "node": the numbers above are about the process that sends the response. Roles has the roles of
	// this process. A process without the role `sink` stores no events. In its balance, the events that it accepts stay
	// in flight. In the balance of the process that stores them, they are stored.
	Scope string   `json:"scope"`
	Roles []string `json:"roles"`
	// LostMessages is the number of messages that expired in the log, or were damaged in the log, before they were
	// stored. It is a number for the whole log, so the messages may have events of any site. It is absent if the log
	// does not respond.
	LostMessages *int64 `json:"lostMessages,omitzero"`
	// MissingRows is the number of stored events that the events table has since lost, as far as this is known. It is a
	// number for all sites.
	MissingRows int64 `json:"missingRows"`
}
