package intake

import (
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	maxBatchID = 64
	maxAge     = 24 * 60 * 60 * 1000 // milliseconds
)

// batchID reads the batch's id. An id that is null counts as a missing id.
func (d *decoder) batchID() *insights.Refusal {
	const problem = "must have 1 to 64 ASCII letters, digits, - or _"
	var id string
	sent := d.peek() == '"'
	if c := d.peek(); !sent && c != 'n' {
		if !d.skip(1) {
			return d.syntax("")
		}
		return insights.Refuse(insights.InvalidField, "id", problem)
	}
	if err := d.str(&id, "id", maxText); err != nil {
		if err.Reason == insights.TooLong {
			return insights.Refuse(insights.InvalidField, "id", problem)
		}
		return err
	}
	if sent && (id == "" || len(id) > maxBatchID || !allOfID(id)) {
		return insights.Refuse(insights.InvalidField, "id", problem)
	}
	d.door.identify(id)
	return nil
}

func allOfID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// browserMember reads a member of a browser's event.
func (d *decoder) browserMember(name string) *insights.Refusal {
	e := &d.event
	switch name {
	case "url":
		return d.url(&e.URL, "url")
	case "referrer":
		return d.url(&e.Referrer, "referrer")
	case "language":
		return d.shortStr(&e.Language, "language")
	case "title":
		return d.str(&e.Title, "title", maxText)
	case "status":
		return d.measured(&e.HTTPStatus, "status", insights.MinHTTPStatus, insights.MaxHTTPStatus)
	case "age":
		return d.age()
	}
	return d.payloadMember(name)
}

// age reads the time between the event and the first attempt to send it.
func (d *decoder) age() *insights.Refusal {
	const problem = "must be a whole number of milliseconds from 0 to 86400000"
	c := d.peek()
	if c == 'n' {
		d.sent.age = 0
		if !d.word("null") {
			return d.syntax("")
		}
		return nil
	}
	if c != '-' && (c < '0' || c > '9') {
		return d.wrongType("age", problem)
	}
	raw, ok := d.number()
	if !ok {
		return d.syntax("")
	}
	age, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || age < 0 || age > maxAge {
		return d.fail(insights.InvalidField, "age", problem)
	}
	d.sent.age = age
	return nil
}

// browserEvent computes the time of a browser's event, and checks the event except its payload.
func (d *decoder) browserEvent(allowed timeRange) *insights.Refusal {
	e := &d.event
	if e.URL == "" {
		return d.missing("url")
	}
	if !schema.HostAllowed(d.door.door.Hosts, schema.HostOf(e.URL)) {
		return d.fail(insights.HostNotAllowed, "url", "must have a host that the publishable key lists")
	}
	e.TimeMillis = d.door.door.Now.UnixMilli() - d.door.late - d.sent.age
	if e.TimeMillis < allowed.earliest {
		const since = " with the time since the first attempt"
		return d.fail(insights.TooOld, "age", "must not be more than "+days(allowed.past)+since)
	}
	return nil
}
