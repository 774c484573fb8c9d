package schema

import (
	"net/netip"
	"time"
)

// EventSite has the facts about the events' site that the intake needs.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs is true if the site stores visitor and session ids in plain text, in addition to their keyed
	// hashes.
	StoreClearIDs bool
}

// ClientInfo has the facts about the client that posted events, without the events.
type ClientInfo struct {
	// IP is the address of the client. It determines the country and is then dropped.
	IP netip.Addr
	// Place is the client's place according to a trusted sender.
	Place Place
	// Now is the time when the request arrived.
	Now time.Time
	// IdempotencyKey is the key by which a retry of the request is recognized, so that its events are not stored twice.
	// It is empty if the request has no key.
	IdempotencyKey string
	// AnyPast is true if the caller may post events of any time in the past. Other callers may post only recent events.
	AnyPast bool
	// MaxEvents is a bound on the request's events that is lower than the intake's own bound. 0 means that there is no
	// lower bound of this kind.
	MaxEvents int
	// KnownTypes is true if the client may send newer types of events. The intake then refuses only the events of
	// unknown types, and not the whole request.
	KnownTypes bool
}

// DoorInfo has the facts about a browser's batch under a site's publishable key, without the batch itself.
type DoorInfo struct {
	// IP is the address of the browser, and UserAgent its user agent. Both determine the visitor, and IP the place.
	// Both are then dropped.
	IP        netip.Addr
	UserAgent string
	// Place is the browser's place according to a trusted sender.
	Place Place
	// Now is the time when the request arrived.
	Now time.Time
	// Late is the time between the first attempt to send the batch and this attempt. The age that the browser sends for
	// an event is its age at the first attempt.
	Late time.Duration
	// Key is the id of the publishable key. Generation is the number of the key's generation, counted from 1. Each
	// rotation of the key begins a new generation. The events' column eventKey has both.
	Key        string
	Generation int
	// Pixel is true if the request loads an image. The batch then has one page view.
	Pixel bool
	// Hosts has the hosts from which the key may post. A host is an exact name, or *.example.com for all hosts below a
	// domain. The intake refuses an event of any other host.
	Hosts []string
}

// DoorSalt is the salt from which the ids of browsers' visitors are made on one day.
type DoorSalt struct {
	// Day is the day, as the number of days since 1970 in UTC.
	Day  int32
	Salt [32]byte
	// MadeAt is the time when the salt was made. It is zero if the salt is not yet stored.
	MadeAt time.Time
}

// Place is a place on earth, with only the known parts set.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code in upper case, or empty.
	Country             string
	Latitude, Longitude float32
	HasPoint            bool
}

// InsightsView limits the events that a caller's queries about a site read. Its members have the form that they have in
// requests.
type InsightsView struct {
	// Where has conditions that every event must meet, as JSON in the form of a request's member where. If it is empty,
	// there are no conditions.
	Where []byte
	// Segments are the ids of the site's saved segments. Every event must be in all of these segments.
	Segments []string
	// Ranges has the ranges to which queries are limited, as a JSON list of values that a request's member range can
	// have. If it is empty, the range of a query is not limited.
	Ranges []byte
	// Timezone is the time zone of the days in Ranges. "" means UTC.
	Timezone string
}

// QueryOrigin identifies the caller of a query and the site whose events are queried.
type QueryOrigin struct {
	OrganizationID string
	SiteID         string
	// TokenID is the id of the token. All queries of a token share one limit.
	TokenID string
	// RequestID identifies the query in the logs.
	RequestID string
	// Fresh is true if the result must not use cached parts of an earlier result.
	Fresh bool
	// UserID is the id of the user, whose personal segments the query may use. It is empty for callers who are not
	// users.
	UserID string
	// View limits the events that the query reads. If it is nil, there is no limit.
	View *InsightsView
}

// KeyClaim is the stored state of an idempotency key, and the result of claiming it.
type KeyClaim struct {
	// BodyHash is the SHA-256 of the request's body without its Content-Encoding.
	BodyHash [32]byte
	// MessageID is the id of the log message that the request becomes. The message is in Partition, at Offset or later.
	MessageID [16]byte
	Partition int
	Offset    int64
	// Attempt identifies the attempt that has claimed the key now.
	Attempt int32
	State   KeyState
	// Left is the time after which the key of a done request can be used again. It is zero in other states.
	Left time.Duration
}

// KeyState is the result of claiming an idempotency key.
type KeyState int

// The states of a key.
const (
	// KeyNew means that the caller has claimed a new key, with the caller's values.
	KeyNew KeyState = iota
	// KeyOpen means that the caller has claimed the key of an earlier attempt. The earlier attempt did not finish, so
	// the caller must search the log for its message.
	KeyOpen
	// KeyBusy means that another attempt is in progress.
	KeyBusy
	// KeyDone means that the events of the request are already stored.
	KeyDone
	// KeyReused means that the key was used with another body.
	KeyReused
)

// RefusedDay has the refusals of a day in UTC: the number of refused events, and of requests that were refused without
// reading them.
type RefusedDay struct {
	Date     string `json:"date"`
	Events   uint64 `json:"events"`
	Requests uint64 `json:"requests"`
}

// EventBalance counts what has happened to a site's events in one process since the process started. In the sums over
// all processes, received + earlier = repeated + refused + stored + deadLettered + erased + inFlight.
type EventBalance struct {
	Object string    `json:"object"`
	Site   string    `json:"site"`
	Since  time.Time `json:"since"`
	// Received is the number of events in all requests that could be read. Accepted is the number of events that are
	// durable in the log. Repeated is the number of events that were recognized as repeats by their Idempotency-Key.
	// Refused has the number of all other events, by reason.
	Received uint64            `json:"received"`
	Accepted uint64            `json:"accepted"`
	Repeated uint64            `json:"repeated"`
	Refused  map[string]uint64 `json:"refused"`
	// UnreadRequests has the number of requests that were refused without reading them, by reason. Either there was no
	// free memory for them, or the rules of a publishable key refused them. Received does not include their events.
	UnreadRequests map[string]uint64 `json:"unreadRequests"`
	// RefusedByDay has refused events and unread requests of the last 30 days. The oldest day comes first. Days without
	// refusals are left out.
	RefusedByDay []RefusedDay `json:"refusedByDay"`
	// Stored and DeadLettered are the numbers of events from the log that the sink of the process has stored, or has
	// put into the dead letters.
	Stored       uint64 `json:"stored"`
	DeadLettered uint64 `json:"deadLettered"`
	// Erased is the number of events that were not stored, because their visitor was erased after they were received.
	Erased uint64 `json:"erased,omitzero"`
	// Earlier is the number of events that the process stored but did not receive. Another process accepted these
	// events, or this process accepted them before a restart.
	Earlier uint64 `json:"earlier,omitzero"`
	// InFlight is the number of the remaining events. They are not yet stored, or their request has no response yet.
	InFlight int64 `json:"inFlight"`
	// Scope is always "node": the numbers above are about the process that sends the response. Roles has the roles of
	// this process. A process without the role sink stores no events. The events that it accepts stay in flight in its
	// balance, and are stored in the balance of another process.
	Scope string   `json:"scope"`
	Roles []string `json:"roles"`
	// LostMessages is the number of messages that expired from the log, or were damaged in the log, before they were
	// stored. It counts the whole log, so the messages may have events of any site. It is absent if the log does not
	// respond.
	LostMessages *int64 `json:"lostMessages,omitzero"`
	// MissingRows is the number of events, of all sites, that were stored and that the events table has lost since
	// then, as far as this is known.
	MissingRows int64 `json:"missingRows"`
}
