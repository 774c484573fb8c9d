package access

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// keyed is a Guard and a tenant with a publishable key.
type keyed struct {
	*testing.T
	st     *store.Store
	tenant *storetest.Tenant
	guard  *Guard
	key    sites.PublishableKey
}

func newKeyed(t *testing.T, cfg Config, dailyCap int64) *keyed {
	t.Helper()
	st := storetest.New(t)
	cfg.AuthEntries = 100
	g, err := NewGuard(cfg, st, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	k := &keyed{T: t, st: st, tenant: storetest.NewTenant(t, st, "ours"), guard: g}
	k.key, err = st.Sites.CreatePublishableKey(t.Context(), k.tenant.Site.ID, sites.NewPublishableKey{
		Name: "Pages", Hosts: []string{"docs.example.com"}, DailyCap: dailyCap, RespectGPC: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// text returns the text that the key has in a generation.
func (k *keyed) text(generation int) string {
	k.Helper()
	secret, err := NewKeySecret(k.st).Read(k.Context())
	if err != nil {
		k.Fatal(err)
	}
	return schema.PublishableKeyText(secret, k.key.ID, generation)
}

// ask calls AdmitKey with a text, and overwrites the text's buffer afterwards.
func (k *keyed) ask(text, address string, now time.Time) (*PublishableKey, error) {
	k.Helper()
	path := aliasing{"key": []byte(text)}
	c := &Caller{Now: now, IP: netip.MustParseAddr(address)}
	err := k.guard.AdmitKey(k.Context(), path, c)
	for i := range path["key"] {
		path["key"][i] = '#'
	}
	if err == nil && (c.EventSite.SiteID != k.tenant.Site.ID ||
		c.EventSite.OrganizationID != k.tenant.Organization.ID ||
		c.Principal.Kind != schema.TokenPublishable || c.Principal.UserID != "" || c.Rights != RightView) {
		k.Errorf("%+v, %+v, %v", c.EventSite, c.Principal, c.Rights)
	}
	return c.Key, err
}

const visitor = "198.51.100.1"

// TestKeysAreRemembered: a key causes one query, although it is used often. A made-up text causes no query.
func TestKeysAreRemembered(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, Config{AuthTTL: time.Minute, WrongTokenRateLimit: 5}, 1000)
	now, text := time.Now(), k.text(1)
	for range 20 { // A valid key does not count against the address.
		if got, err := k.ask(text, visitor, now); err != nil || got.ID != k.key.ID || got.Generation != 1 ||
			got.Hosts[0] != "docs.example.com" || !got.RespectGPC {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	k.st.Stop() // From now on a query fails, and only the cache has the key.
	other := schema.PublishableKeyText(make([]byte, 32), k.key.ID, 1)
	for _, invented := range []string{other, "opk_x", strings.ToUpper(text), text[:len(text)-1]} {
		if _, err := k.ask(invented, "198.51.100.2", now); !schema.IsCode(err, schema.CodeUnauthorized) {
			t.Errorf("%s: %v", invented, err)
		}
	}
	limited := 0
	for range 10 {
		if _, err := k.ask(other, "198.51.100.2", now); schema.IsCode(err, schema.CodeTooManyRequests) {
			limited++
		}
	}
	if limited != 4 { // The address may send the wrong texts of two seconds at once.
		t.Errorf("%d invented keys were limited", limited)
	}
	if _, err := k.ask(text, "198.51.100.2", now); err != nil {
		t.Errorf("a remembered key, from an address over its limit: %v", err)
	}
	// This text is signed with the secret, so it needs a query. An address over its limit may not cause a query.
	if _, err := k.ask(schema.PublishableKeyText(*k.guard.keySecret.value.Load(), schema.NewID(), 1), "198.51.100.2",
		now); !schema.IsCode(err, schema.CodeTooManyRequests) {
		t.Error(err)
	}
}

// TestDeletedKeysEnd: a deleted key works until its cache entry expires. After that, its refusal is cached, and each
// request counts against the address.
func TestDeletedKeysEnd(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, Config{AuthTTL: time.Minute, WrongTokenRateLimit: 2}, 1000)
	now, text := time.Now(), k.text(1)
	if _, err := k.ask(text, visitor, now); err != nil {
		t.Fatal(err)
	}
	if err := k.st.Sites.DeletePublishableKey(t.Context(), k.tenant.Site.ID, k.key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.ask(text, visitor, now.Add(time.Minute-1)); err != nil {
		t.Error(err)
	}
	ended := now.Add(time.Minute)
	if _, err := k.ask(text, visitor, ended); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Error(err)
	}
	k.st.Stop() // A query would now fail with another code, so the refusals come from the cache.
	codes := map[schema.Code]int{}
	for range 10 {
		_, err := k.ask(text, "198.51.100.3", ended.Add(refusalTTL-1))
		codes[schema.AsError(err).Code]++
	}
	if codes[schema.CodeUnauthorized] != 4 || codes[schema.CodeTooManyRequests] != 6 {
		t.Errorf("%v", codes)
	}
	if _, err := k.ask(text, "198.51.100.4", ended.Add(refusalTTL)); schema.IsCode(err, schema.CodeUnauthorized) ||
		err == nil {
		t.Errorf("the refusal is still cached: %v", err)
	}
}

// TestRotation: after a rotation, the previous text works exactly until its end. Texts before the previous one do not
// work.
func TestRotation(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, Config{AuthTTL: time.Minute}, 1000)
	start := time.Now()
	until := start.Add(90 * time.Second).Truncate(time.Microsecond)
	if _, err := k.ask(k.text(1), visitor, start); err != nil {
		t.Fatal(err)
	}
	if _, err := k.st.Sites.RotatePublishableKey(t.Context(), k.tenant.Site.ID, k.key.ID, until); err != nil {
		t.Fatal(err)
	}
	try := func(generation int, at time.Time, works bool) {
		t.Helper()
		got, err := k.ask(k.text(generation), visitor, at)
		if works && (err != nil || got.Generation != generation) || !works && !schema.IsCode(err,
			schema.CodeUnauthorized) {
			t.Errorf("generation %d after %v: %+v, %v", generation, at.Sub(start), got, err)
		}
	}
	try(3, start, false)
	try(0, start, false)
	for generation := 1; generation <= 2; generation++ {
		try(generation, start, true)
		try(generation, start.Add(time.Minute), true) // The cache entry has expired, so the text is loaded again.
		try(generation, until.Add(-1), true)
	}
	try(1, until, false) // The text has ended, although its cache entry is still valid.
	try(1, until.Add(time.Hour), false)
	try(2, until.Add(time.Hour), true)
	again := until.Add(2 * time.Hour)
	if _, err := k.st.Sites.RotatePublishableKey(t.Context(), k.tenant.Site.ID, k.key.ID,
		again.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	try(1, again, false)
	try(2, again, true)
	try(3, again, true)
	// A rotation without overlap takes effect when the cache entry expires.
	if _, err := k.st.Sites.RotatePublishableKey(t.Context(), k.tenant.Site.ID, k.key.ID, again); err != nil {
		t.Fatal(err)
	}
	try(3, again.Add(time.Minute-1), true)
	try(3, again.Add(time.Minute), false)
	try(4, again.Add(time.Minute), true)
}

// TestKeysAreLimited: each key has a rate limit. The limit of all keys of a site together is twice as high.
func TestKeysAreLimited(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, Config{AuthTTL: time.Minute, KeyRateLimit: 2}, 1000)
	now := time.Now()
	burst := func(text string) (n int, last error) {
		for ; last == nil && n < 100; n++ {
			key, err := k.ask(text, visitor, now)
			if err != nil {
				t.Fatal(err)
			}
			take, err := k.guard.TakeKey(key, now)
			if last = err; err == nil && take.Burst != 4 {
				t.Errorf("%+v", take)
			}
		}
		return n - 1, last
	}
	texts := []string{k.text(1)}
	for range 2 {
		row, err := k.st.Sites.CreatePublishableKey(t.Context(), k.tenant.Site.ID,
			sites.NewPublishableKey{Hosts: []string{"a.example"}, DailyCap: 1})
		if err != nil {
			t.Fatal(err)
		}
		k.key = row
		texts = append(texts, k.text(1))
	}
	for i, want := range []struct {
		n   int
		why string
	}{{4, "this key"}, {4, "this key"}, {0, "keys of this site"}} {
		if n, err := burst(texts[i]); n != want.n || !schema.IsCode(err, schema.CodeTooManyRequests) ||
			!strings.Contains(err.Error(), want.why) {
			t.Errorf("key %d: %d requests, then %v", i, n, err)
		}
	}
}

// TestDailyCap: a key may post a fixed number of events a day (UTC), with all of its texts together.
func TestDailyCap(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, Config{AuthTTL: time.Hour}, 100)
	noon := time.Date(2030, 5, 17, 12, 0, 0, 0, time.FixedZone("", 5*3600))
	if _, err := k.st.Sites.RotatePublishableKey(t.Context(), k.tenant.Site.ID, k.key.ID,
		noon.Add(72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	post := func(generation, events int, at time.Time) (first bool, err error) {
		key, err := k.ask(k.text(generation), visitor, at)
		if err != nil {
			t.Fatal(err)
		}
		if first, err = key.WithinDailyCap(at); err == nil {
			key.CountEvents(events, at)
		}
		return first, err
	}
	for i, step := range []struct {
		generation, events int
		at                 time.Duration
		taken, first       bool
		wait               time.Duration
	}{
		{1, 50, 0, true, false, 0}, {2, 49, time.Hour, true, false, 0}, {2, 50, time.Hour, true, false, 0},
		{1, 1, 2 * time.Hour, false, true, 15 * time.Hour}, {2, 1, 3 * time.Hour, false, false, 14 * time.Hour},
		{1, 1, 17*time.Hour - 1, false, false, 1},
		{1, 100, 17 * time.Hour, true, false, 0}, {1, 1, 18 * time.Hour, false, true, 23 * time.Hour},
		{1, 1, 41 * time.Hour, true, false, 0},
	} {
		first, err := post(step.generation, step.events, noon.Add(step.at))
		if step.taken != (err == nil) || first != step.first {
			t.Fatalf("step %d: %v, first %t", i, err, first)
		}
		var refused *schema.Error
		if errors.As(err, &refused) && (refused.Code != schema.CodeTooManyRequests || refused.RetryAfter != step.wait) {
			t.Errorf("step %d: %v, after %v, want %v", i, err, refused.RetryAfter, step.wait)
		}
	}
}

// TestDailyCapCountsAllEvents counts events in many goroutines, before and after midnight. The count of the new day
// includes no event of the old day.
func TestDailyCapCountsAllEvents(t *testing.T) {
	t.Parallel()
	use, midnight := &keyUse{}, time.Date(2030, 5, 18, 0, 0, 0, 0, time.UTC)
	var after atomic.Int64
	var all sync.WaitGroup
	use.add(1<<30, midnight.Add(-time.Second))
	for n := range 8 {
		all.Go(func() {
			for i := range 1000 {
				use.add(3, midnight.Add(time.Duration(n)*time.Second))
				after.Add(3)
				if i == 500 && use.events(midnight) > after.Load()+8*3 {
					t.Error("there are more events than were counted")
				}
			}
		})
	}
	all.Wait()
	if got := use.events(midnight); got != 24_000 {
		t.Errorf("%d events", got)
	}
}

// TestDailyCapAfterAWrongClock: a clock that was ahead for a moment leaves the count of a later day. This count does
// not limit the present day. A request that began shortly before midnight still belongs to the new day.
func TestDailyCapAfterAWrongClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{24 * time.Hour, 30 * 24 * time.Hour} {
		key := &PublishableKey{use: &keyUse{}, dailyCap: 100}
		key.CountEvents(100, noon.Add(ahead))
		if _, err := key.WithinDailyCap(noon); err != nil {
			t.Errorf("after a clock that was %v ahead: %v", ahead, err)
		}
		key.CountEvents(99, noon)
		if got := key.use.events(noon); got != 99 {
			t.Errorf("after a clock that was %v ahead: %d events", ahead, got)
		}
		key.CountEvents(1, noon)
		if _, err := key.WithinDailyCap(noon.Add(time.Hour)); !schema.IsCode(err, schema.CodeTooManyRequests) {
			t.Errorf("after a clock that was %v ahead, the cap is not applied: %v", ahead, err)
		}
	}
	use, midnight := &keyUse{}, noon.Add(12*time.Hour)
	use.add(2, midnight)
	use.add(3, midnight.Add(-time.Minute))
	if got := use.events(midnight); got != 5 {
		t.Errorf("%d events after a slow request", got)
	}
}
