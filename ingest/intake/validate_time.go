package intake

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// timeRange is the allowed range of a request's timestamps, in milliseconds. `earliest` is computed from the age limit
// `past`. If `past` is 0, there is no limit.
type timeRange struct {
	earliest, latest int64
	past             time.Duration
}

// timestamp reads the time of an event. A request with a site's key may not have a time before allowed.earliest.
func (d *decoder) timestamp(allowed timeRange) *insights.Refusal {
	var s string
	if err := d.shortStr(&s, "timestamp"); err != nil {
		return err
	}
	d.sent.timed = s != ""
	if s == "" {
		return nil
	}
	// With this layout, time.Parse allocates no memory.
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return d.fail(insights.InvalidField, "timestamp", "must be a date-time such as 2026-01-31T00:00:00Z")
	}
	millis := t.UnixMilli()
	switch {
	case millis < 0:
		return d.fail(insights.OutOfRange, "timestamp", "must not be before 1970")
	case millis > allowed.latest:
		return d.fail(insights.InFuture, "timestamp", "must not be in the future")
	case millis < allowed.earliest:
		return d.fail(insights.TooOld, "timestamp", "must not be more than "+days(allowed.past)+" old in what a site's key posts: import older events with a user's token")
	}
	d.event.TimeMillis = millis
	return nil
}

// days formats a limit, in days if it is a whole number of days.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return itoa(int(d/day)) + " days"
	}
	return d.String()
}
