package insights

// Reason is a reason for refusing an event or its whole request. The list Reasons has all reasons.
type Reason struct {
	Label     string // label in metrics and logs
	Status    int    // HTTP status of the response
	Retryable bool   // whether the same request may succeed later
	Doc       string
}

// These are the reasons for refusing events. Metrics, responses and the documentation use this table.
var (
	NotJSON         = &Reason{"not_json", 400, false, "The body is not a JSON object with an array `events`."}
	TooManyEvents   = &Reason{"too_many_events", 400, false, "The request has more events than allowed."}
	MissingField    = &Reason{"missing_field", 400, false, "A required field is absent or null."}
	InvalidField    = &Reason{"invalid_field", 400, false, "A field has the wrong type, or a value that is not allowed."}
	UnknownType     = &Reason{"unknown_type", 400, false, "The event's type is unknown. To a front end, and to a client that asks with `Prefer: handling=lenient`, such an event alone is refused, and the answer is 204."}
	TooLong         = &Reason{"too_long", 400, false, "A field has more bytes or members than allowed."}
	InFuture        = &Reason{"in_future", 400, false, "The timestamp is further in the future than clocks differ."}
	TooOld          = &Reason{"too_old", 400, false, "The timestamp is older than a site's key may post. A user's token may post it."}
	OutOfRange      = &Reason{"out_of_range", 400, false, "The timestamp is outside the years that can be stored."}
	KeyReused       = &Reason{"key_reused", 422, false, "The Idempotency-Key was used within a day for a request with another body."}
	KeyBusy         = &Reason{"key_busy", 409, true, "Another request with the same Idempotency-Key is in progress."}
	SiteOverloaded  = &Reason{"site_overloaded", 429, true, "The site has more events in flight than its share of the node."}
	Overloaded      = &Reason{"overloaded", 503, true, "The node has more events in flight than it accepts."}
	LogUnavailable  = &Reason{"log_unavailable", 503, true, "The event log did not take the events in time."}
	LogFull         = &Reason{"log_full", 503, true, "The event log is full: its events must be stored first, or its disk needs space."}
	KeysUnavailable = &Reason{"keys_unavailable", 503, true, "The request has an Idempotency-Key, and Postgres, which stores the keys, did not answer."}
	SaltUnavailable = &Reason{"salt_unavailable", 503, true, "Postgres did not answer with the salts of visitors."}

	HostNotAllowed = &Reason{"host_not_allowed", 403, false,
		"The publishable key does not list the host of the page, or of an event's `url`."}
	DailyCap = &Reason{"daily_cap", 429, true,
		"The publishable key has had its events of the day (UTC) on this node. " +
			"Its requests are refused unread until midnight."}
	OptedOut = &Reason{"opted_out", 204, false,
		"The reader's browser asks with `Sec-GPC: 1` that nothing is recorded, and the publishable key respects " +
			"that. Nothing is stored, and the answer is that of stored events."}

	Reasons = []*Reason{
		NotJSON, TooManyEvents, MissingField, InvalidField, UnknownType, TooLong, InFuture, TooOld, OutOfRange,
		KeyReused, KeyBusy, SiteOverloaded, Overloaded, LogUnavailable, LogFull, KeysUnavailable,
		HostNotAllowed, DailyCap, OptedOut, SaltUnavailable,
	}
)
