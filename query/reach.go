package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	// MaxViewRanges limits the number of ranges of a view.
	MaxViewRanges = 20
	// pageTime is how long after the first page's request the ranges of a view still end at the time of this request.
	// Afterwards they end at the time of the current request.
	pageTime = 15 * time.Minute
)

// reach returns the part of a site that a caller can read.
func (s *Service) reach(ctx context.Context, who Caller, site string, now time.Time) (reach, error) {
	about, err := s.site(ctx, site)
	r := reach{site: about, now: ceil(now)}
	if err != nil {
		return r, err
	}
	if s.config.Segment != nil {
		r.saved = once(func(id string) ([]byte, error) { return s.config.Segment(ctx, site, who.User, id) })
	}
	if who.View == nil {
		return r, nil
	}
	return r.within(*who.View)
}

// once returns a function that caches the results of `find`. So all queries of a batch use the same version of a
// segment.
func once(find func(id string) ([]byte, error)) func(string) ([]byte, error) {
	type found struct {
		where []byte
		err   error
	}
	known := map[string]found{}
	return func(id string) ([]byte, error) {
		f, ok := known[id]
		if !ok {
			f.where, f.err = find(id)
			known[id] = f
		}
		return f.where, f.err
	}
}

// within returns the reach of a caller who sees only this view. If a part of the view cannot be applied, it returns an
// error, so that the view never shows too much.
func (r reach) within(v schema.InsightsView) (reach, error) {
	broken := func(err error) (reach, error) {
		if e := schema.AsError(err); e.Code != schema.CodeBadRequest {
			return r, err
		}
		return r, &schema.Error{
			Code: schema.CodeForbidden, Message: "this view of the site shows nothing: its filters no longer work",
			Cause: err,
		}
	}
	where, err := readWhere(v.Where)
	if err != nil {
		return broken(err)
	}
	for i, id := range v.Segments {
		list, err := r.segment(nth("segments", i), id, &whereBudget{maxFilters, maxValues})
		if err != nil {
			return broken(err)
		}
		where = append(where, list...)
	}
	if _, err := resolveEvents(where); err != nil {
		return broken(err)
	}
	r.where, r.shared = where, true
	if r.ranges, r.zone, err = readRanges(v.Ranges, v.Timezone); err != nil {
		return broken(err)
	}
	if len(r.ranges) > 0 {
		texts := make([]string, len(r.ranges))
		for i, one := range r.ranges {
			texts[i] = one.String()
			from, _, err := one.resolved(r.now, r.zone)
			if err != nil {
				return broken(err)
			}
			if first := one.firstOf(from); !first.IsZero() {
				r.days += " view from " + insights.FormatTime(first)
			}
		}
		r.view = strings.Join(texts, ", ") + " in " + r.zone.String()
	}
	return r, nil
}

// limit cuts a period to one range of the view: the range that contains the largest part of the period. `now` is the
// time at which the request's presets end.
func (r reach) limit(in period, now time.Time) (period, error) {
	if len(r.ranges) == 0 {
		return in, nil
	}
	var best period
	for _, one := range r.ranges {
		from, to, err := one.resolved(r.ends(now), r.zone)
		if err != nil {
			return in, err
		}
		cut := in
		cut.from, cut.to = latest(in.from, from), earliest(in.to, to)
		if cut.to.Sub(cut.from) > best.to.Sub(best.from) {
			best = cut
		}
	}
	if best.to.IsZero() {
		return in, notShown("range")
	}
	best.cut = !best.from.Equal(in.from) || !best.to.Equal(in.to)
	return best, nil
}

// shows returns an error if the view has ranges, but no single range contains the times `from <= t < to`.
func (r reach) shows(path string, from, to, now time.Time) error {
	for _, one := range r.ranges {
		first, last, err := one.resolved(r.ends(now), r.zone)
		if err != nil {
			return err
		}
		if !from.Before(first) && !to.After(last) {
			return nil
		}
	}
	if len(r.ranges) == 0 {
		return nil
	}
	return notShown(path)
}

// ends returns the time at which the presets of the view's ranges end. If `now` is the time of a cursor's first page
// and is at most pageTime ago, the result is `now`. So all pages have the same range.
func (r reach) ends(now time.Time) time.Time {
	if now.Before(r.now.Add(-pageTime)) || now.After(r.now) {
		return r.now
	}
	return now
}

func notShown(member string) error {
	return schema.Forbidden(member + ": this view of the site does not show these times")
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// resolved returns the range of a view whose presets end at `now`.
func (r rangeRequest) resolved(now time.Time, zone *time.Location) (from, to time.Time, err error) {
	from, to, err = resolveRange(r, now.In(zone), insights.WeekStart(0))
	return storable(from), storable(to), err
}

// CheckWhere checks a value of a request's member `where`. It refuses conditions on metrics. Errors name the member
// that is wrong.
func CheckWhere(where []byte) error {
	list, err := readWhere(where)
	if err == nil {
		_, err = resolveEvents(list)
	}
	return err
}

// readWhere reads the value of a member `where`. An empty value means no conditions.
func readWhere(where []byte) ([]conditionRequest, error) {
	if len(where) == 0 {
		return nil, nil
	}
	if err := checkJSON(where, maxDepth); err != nil {
		return nil, err
	}
	// Add the member's name, so that also an error about the whole list has a path.
	body := slices.Concat([]byte(`{"where":`), where, []byte(`}`))
	return newReader(body).conditionsOf("", &whereBudget{maxFilters, maxValues})
}

// CheckRanges returns an error if the time zone is unknown, or if `ranges` is not a JSON list of ranges. Each range has
// the form of a request's member `range`.
func CheckRanges(ranges []byte, timezone string) error {
	_, _, err := readRanges(ranges, timezone)
	return err
}

// readRanges reads the ranges of a view.
func readRanges(ranges []byte, timezone string) (list []rangeRequest, zone *time.Location, err error) {
	if timezone == "" {
		timezone = time.UTC.String()
	}
	if zone, err = insights.Location(timezone); err != nil {
		return nil, nil, schema.Invalid("timezone", err.Error())
	}
	if len(ranges) == 0 {
		return nil, zone, nil
	}
	if err := checkJSON(ranges, maxDepth); err != nil {
		return nil, nil, err
	}
	r := newReader(slices.Concat([]byte(`{"ranges":`), ranges, []byte(`}`)))
	err = r.object([]string{"ranges"}, func(name string) error {
		return r.array(MaxViewRanges, func(i int) error {
			one, err := r.timeRange(nth(name, i), Presets())
			if err == nil {
				err = one.check(nth(name, i), zone)
			}
			list = append(list, one)
			return err
		})
	})
	return list, zone, err
}

// check returns an error for an unknown preset, and for bounds that are not a range.
func (r rangeRequest) check(path string, zone *time.Location) (err error) {
	switch {
	case r.from != nil:
		_, _, err = r.given(path, zone)
	case presetOf(r.preset) == nil:
		err = schema.Invalid(path, unknown("a preset or an object with from and to", r.preset, Presets()), Presets()...)
	}
	return err
}

// key identifies the events that a request reads, by its reach and its segments. It contains the site's settings and
// all conditions and ranges. Requests with equal keys read the same events.
func (r reach) key(segments []string) (string, error) {
	q := scopeRequest{reach: r, segments: segments, left: whereBudget{maxFilters, maxValues}}
	if err := q.narrow(); err != nil {
		return "", err
	}
	where, err := resolveEvents(q.filters)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range where {
		fmt.Fprintf(&b, "%v\n", c)
	}
	return r.site.key() + b.String() + r.view + r.days, nil
}
