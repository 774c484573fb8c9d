package schema

import (
	"net/netip"
	"time"
)

// EventSite has the facts about the events' site that the intake needs.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs means that the site stores visitor and session ids in clear, in addition to their keyed hashes.
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
	// IdempotencyKey prevents a retry of the request from storing events twice. It is empty if the request has no key.
	IdempotencyKey string
	// AnyPast means that the caller may import events of any time in the past. Other callers may post only recent
	// events.
	AnyPast bool
	// MaxEvents bounds the events of the request, if that is less than the intake's own bound. 0 means no bound.
	MaxEvents int
	// KnownTypes means that the client may know newer types of events. Events of unknown types are then refused
	// individually.
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
	// Late is the time between the first attempt to send the batch and this attempt. Each event's age counts from the
	// first attempt.
	Late time.Duration
	// Key is the id of the publishable key, and Generation counts its rotations from 1. The events' column eventKey has
	// both.
	Key        string
	Generation int
	// Pixel means that the request loads an image, so the batch has one page view.
	Pixel bool
	// Hosts are the hosts of the key. A host is an exact name, or *.example.com for all hosts below a domain. An event
	// of another host is refused.
	Hosts []string
}

// DoorSalt is the salt from which the ids of browsers' visitors are made on one day.
type DoorSalt struct {
	// Day counts the days since 1970 in UTC.
	Day  int32
	Salt [32]byte
	// MadeAt is the time when the salt was made. It is zero if the salt is not stored yet.
	MadeAt time.Time
}

// Place is a place on earth, with only the known parts set.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code in upper case, or empty.
	Country             string
	Latitude, Longitude float32
	HasPoint            bool
}

// InsightsView limits the events that a caller's queries of a site read. Its members have the form of requests.
type InsightsView struct {
	// Where has conditions that every event must meet, as JSON like a request's member where. If it is empty, there are
	// no conditions.
	Where []byte
	// Segments are the ids of the site's saved segments. Every event must be in all of them.
	Segments []string
	// Ranges are the ranges that queries are cut to: JSON, a list of values of a request's member range. If it is
	// empty, queries are not cut.
	Ranges []byte
	// Timezone is the zone of the ranges' days; "" is UTC.
	Timezone string
}

// QueryOrigin identifies the caller of a query and the site whose events are queried.
type QueryOrigin struct {
	OrganizationID string
	SiteID         string
	// TokenID is the id of the token. The queries of one token have a common limit.
	TokenID string
	// RequestID names the query in the logs.
	RequestID string
	// Fresh requests an answer that reuses no part of an earlier answer.
	Fresh bool
	// UserID is the user who sees personal segments. It is empty for callers who are not users.
	UserID string
	// View narrows the events that the query reads; nil means no narrowing.
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
	// Attempt identifies the attempt that holds the key now.
	Attempt int32
	State   KeyState
	// Left is the time after which the key of a done request can be used again. It is zero in other states.
	Left time.Duration
}

// KeyState is the result of claiming an idempotency key.
type KeyState int

// The states of a key.
const (
	// KeyNew: the caller has claimed the key with the caller's values.
	KeyNew KeyState = iota
	// KeyOpen: the caller has claimed the key. An earlier attempt did not finish, so the caller must look for its
	// message in the log.
	KeyOpen
	// KeyBusy: another attempt is in progress.
	KeyBusy
	// KeyDone: the request is stored.
	KeyDone
	// KeyReused: the key was used with another body.
	KeyReused
)

// RefusedDay counts the refusals of a day (UTC): events, and requests that were refused unread.
type RefusedDay struct {
	Date     string `json:"date"`
	Events   uint64 `json:"events"`
	Requests uint64 `json:"requests"`
}

// EventBalance has the outcomes of a site's events in one process since the process started. Summed over all processes,
// received + earlier = repeated + refused + stored + deadLettered + erased + inFlight.
type EventBalance struct {
	Object string    `json:"object"`
	Site   string    `json:"site"`
	Since  time.Time `json:"since"`
	// Received counts the events of all requests that could be read. Accepted counts events that are durable in the
	// log. Repeated counts events that an Idempotency-Key recognized. Refused counts the other events, by reason.
	Received uint64            `json:"received"`
	Accepted uint64            `json:"accepted"`
	Repeated uint64            `json:"repeated"`
	Refused  map[string]uint64 `json:"refused"`
	// UnreadRequests counts requests that were refused without reading them, by reason. Either no room was free, or a
	// publishable key's rules refused them. Received does not include their events.
	UnreadRequests map[string]uint64 `json:"unreadRequests"`
	// RefusedByDay has both kinds of refusals of the last 30 days, the oldest day first. Days without refusals are left
	// out.
	RefusedByDay []RefusedDay `json:"refusedByDay"`
	// Stored and DeadLettered count the outcomes of the log's events in the sink of the process.
	Stored       uint64 `json:"stored"`
	DeadLettered uint64 `json:"deadLettered"`
	// Erased counts events that were not stored because their visitor was erased after they were received.
	Erased uint64 `json:"erased,omitzero"`
	// Earlier is the number of events that the process stored but did not receive. Other processes accepted them, or
	// this process before a restart.
	Earlier uint64 `json:"earlier,omitzero"`
	// InFlight counts the remaining events. They have no answer yet or are not stored yet.
	InFlight int64 `json:"inFlight"`
	// Scope is "node": the counts above belong to the answering process, and Roles are its roles. A process that does
	// not have the role sink stores no events. Its accepted events stay in flight here, and count as stored in another
	// process's balance.
	Scope string   `json:"scope"`
	Roles []string `json:"roles"`
	// LostMessages is the number of messages that expired from the log, or were damaged in the log, before they were
	// stored. It counts the whole log, so the messages may have events of any site. It is absent while the log does not
	// answer.
	LostMessages *int64 `json:"lostMessages,omitzero"`
	// MissingRows is the known number of stored events that the insights store has lost since. It counts the events of
	// all sites.
	MissingRows int64 `json:"missingRows"`
}
