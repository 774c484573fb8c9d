package eventgen

import (
	"math"
	"sort"
	"time"
)

// rhythm maps a fraction of all events to the time by which this fraction has happened. A busy hour has more events, so
// a larger part of the range from 0 to 1 belongs to it.
type rhythm struct {
	start, end int64     // start and end of the span, in milliseconds since 1970
	reached    []float64 // fraction of all events that have happened by the end of each hour
}

const hourMillis = int64(time.Hour / time.Millisecond)

func newRhythm(from, to time.Time) rhythm {
	r := rhythm{start: from.UnixMilli(), end: to.UnixMilli()}
	sum := 0.0
	for at := r.start; at < r.end; at += hourMillis {
		part := float64(min(hourMillis, r.end-at)) / float64(hourMillis)
		sum += part * weight(time.UnixMilli(at+hourMillis/2).UTC())
		r.reached = append(r.reached, sum)
	}
	for i := range r.reached {
		r.reached[i] /= sum
	}
	return r
}

// weight returns the relative traffic of an hour. Readers are in Europe and the Americas, and read at work. So traffic
// is highest at 15:00 UTC and lowest 12 hours later.
func weight(t time.Time) float64 {
	w := 1 + 0.75*math.Cos(2*math.Pi*(float64(t.Hour())-15)/24)
	switch t.Weekday() {
	case time.Saturday, time.Sunday:
		return w * 0.4
	case time.Friday:
		return w * 0.85
	default:
		return w
	}
}

// at returns the time by which the fraction `share` of all events has happened.
func (r *rhythm) at(share float64) int64 {
	i := min(sort.SearchFloat64s(r.reached, share), len(r.reached)-1)
	before := 0.0
	if i > 0 {
		before = r.reached[i-1]
	}
	start := r.start + int64(i)*hourMillis
	length := float64(min(hourMillis, r.end-start))
	return start + int64(length*(share-before)/(r.reached[i]-before))
}
