package intake

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// refusedPost is a request of several megabytes that is refused for the reason `want`.
type refusedPost struct {
	name   string
	want   *insights.Reason
	body   []byte
	change func(*Config)
	// `inside` has the site of each request that is in the intake at the same time.
	inside []string
}

// large is roughly the number of events in a body of 4 MB.
const large = 6400

func refusedPosts() []refusedPost {
	good := ingesttest.TypicalBody(large)
	// The replacement has the same length as the original text, so that all bodies have 4 MB.
	first := bytes.Replace(good, []byte(`"page_view"`), []byte(`"pageview_"`), 1)
	last := bytes.Clone(good)
	copy(last[bytes.LastIndex(last, []byte(`"page_view"`)):], `"pageview_"`)
	full := func(c *Config) { c.MaxInFlight, c.AdmitWait = 4, time.Nanosecond }
	return []refusedPost{
		{"overloaded", insights.Overloaded, good, full, []string{"a", "b", "c", "d"}},
		{"site_overloaded", insights.SiteOverloaded, good, full, []string{testSite.ID, testSite.ID, testSite.ID}},
		{"first_event", insights.UnknownType, first, nil, nil},
		{"last_event", insights.UnknownType, last, nil, nil},
		{"too_many_events", insights.TooManyEvents, good, func(c *Config) { c.MaxEvents = 100 }, nil},
		{"not_json", insights.NotJSON, append([]byte(`{"events":[{]`), good...), nil, nil},
		{"log_full", insights.LogFull, good, func(c *Config) {
			c.Log = &ingesttest.MemoryLog{Err: insights.Refuse(insights.LogFull, "", "is full")}
		}, nil},
	}
}

func (r refusedPost) intake(t testing.TB) *Intake {
	in := newTestIntake(t, discardLog{}, r.change)
	for _, site := range r.inside {
		if err := in.admission.enter(t.Context(), &in.cfg.Balances.Account(site).InFlight, 1); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// post sends a body and fails the test unless it is refused for the expected reason.
func (r refusedPost) post(t testing.TB, in *Intake, body []byte) {
	refused, ok := errors.AsType[*insights.Refusal](in.Accept(t.Context(), testSite, body, testClient))
	if !ok || refused.Reason != r.want {
		t.Fatalf("%s: %v", r.name, refused)
	}
}

// BenchmarkRefused measures the cost of refusing a request of 4 MB.
func BenchmarkRefused(b *testing.B) {
	for _, r := range refusedPosts() {
		b.Run(r.name, func(b *testing.B) {
			in := r.intake(b)
			b.ReportAllocs()
			for b.Loop() {
				r.post(b, in, r.body)
			}
		})
	}
	b.Run("accepted", func(b *testing.B) {
		in, body := newTestIntake(b, discardLog{}, nil), ingesttest.TypicalBody(large)
		b.ReportAllocs()
		for b.Loop() {
			if err := in.Accept(b.Context(), testSite, body, testClient); err != nil {
				b.Fatal(err)
			}
		}
	})
}
