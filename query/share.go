package query

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
)

// version returns the version of the site's events, for the result cache. If `current` is false, a light query does not
// wait for the version, because the cache compares it only later.
func (q *query) version(ctx context.Context, current bool) string {
	if known := q.service.versions.known(q.site); !current && (known != "" || q.size.known && q.cost <= lightRows) {
		return known
	}
	is := q.present(ctx)
	if current {
		q.freshUntil = is.freshUntil
	}
	return is.version
}

// freshUntil returns the time up to which a site's events are stored, as text; "" if it is unknown.
func (c Config) freshUntil(ctx context.Context, site string) string {
	if c.FreshUntil == nil {
		return ""
	}
	t, ok := c.FreshUntil(ctx, site)
	if !ok {
		return ""
	}
	return schema.FormatMoment(t)
}

// headerAge is the answer's age in seconds: the time since the query that computed it was requested.
const headerAge = "Age"

// shared answers a query from the result cache, or by calling `work`. Queries with equal `kind`, `site` and `key` have
// the same answer, except for the time at which presets end.
func (q *query) shared(ctx context.Context, key string, work answerFunc) ([]byte, map[string]string, error) {
	s := q.service
	r, err := q.results.Do(ctx, resultcache.Query[answer]{
		Key: q.key(key), Fresh: q.who.Fresh,
		Enter: func(ctx context.Context) (func(), error) {
			if q.entered {
				return func() {}, nil
			}
			return s.admission.enter(ctx, q.who, q.cost)
		},
		Run:     func(ctx context.Context) (answer, error) { return q.admitted(ctx, work) },
		Version: q.version, Lasts: q.lasts,
		// The other queries of a batch may have used most of its time. Other callers have more time.
		Own: func(err error) bool { return !q.until.IsZero() && ranOut(err) },
	})
	if err != nil {
		return nil, nil, q.refused(ctx, err, r.Source)
	}
	return q.given(ctx, r)
}

// cached returns a cached answer of an equal query. It runs nothing, except to read the version of the site's events.
func (q *query) cached(ctx context.Context, identity string) (resultcache.Result[answer], bool) {
	return q.results.Look(ctx, resultcache.Query[answer]{Key: q.key(identity), Fresh: q.who.Fresh, Version: q.version})
}

// given returns an answer of the cache, or of the query's own run, with its headers.
func (q *query) given(ctx context.Context, r resultcache.Result[answer]) ([]byte, map[string]string, error) {
	s := q.service
	if err := q.lacksNow(); err != nil {
		return nil, nil, q.failed(ctx, err).public
	}
	headers := maps.Clone(r.Value.headers)
	if r.Source != resultcache.Run {
		headers[headerAge] = strconv.Itoa(int(r.Age / time.Second))
	}
	if r.Current && q.freshUntil != "" {
		headers[headerFreshUntil] = q.freshUntil
	}
	q.incomplete(headers)
	s.metrics.seconds[q.kind].Observe(time.Since(q.start).Seconds())
	s.metrics.answers[q.kind][r.Source].Inc()
	return r.Value.body, headers, nil
}

// key returns the query's key in the result cache.
func (q *query) key(identity string) resultcache.Key {
	return resultcache.NewKey(q.site, string(q.kind)+"\n"+identity)
}

// refused returns the error for the caller. The query that ran has already counted its failure. `refused` also counts
// the failure for each query that shared the run.
func (q *query) refused(ctx context.Context, err error, from resultcache.Source) error {
	f, ran := errors.AsType[*failure](err)
	switch {
	case !ran:
		f = q.failed(ctx, err)
	case from == resultcache.Shared:
		q.service.metrics.errors[q.kind][f.class].Inc()
	}
	return f.public
}

// Forget drops the cached answers of a site whose events changed; "" means all sites. No later query gets an older
// answer from this node.
func (s *Service) Forget(site string) {
	s.results.Forget(site)
	s.live.Forget(site)
	s.batches.Forget(site)
}
