package eventgen

import (
	"math/rand/v2"
	"time"
)

// Options configure a Generator. A zero field means the default named in its comment.
type Options struct {
	Seed uint64
	// Events is the number of events in Span. After these events a generator starts again at the beginning of the span,
	// with different events.
	Events   int           // number of events, default 500,000
	Visitors int           // number of visitors, default 50,000
	End      time.Time     // end of the span, default now, so that two runs differ
	Span     time.Duration // length of the span, default 30 days
	Host     string        // the site's host, default docs.example.com
	// Spaces are ids for the site's first spaces, for example ids of spaces that were created for it.
	Spaces []string
	// Pages are ids for pages of these spaces, by path, for example ids of pages that were created for it: see
	// [SpaceTopics].
	Pages []map[string]string
	// NoSpaces leaves out the ids of spaces and pages, as for a site whose content is elsewhere.
	NoSpaces bool
}

func (o Options) withDefaults() Options {
	if o.Events <= 0 {
		o.Events = 500_000
	}
	if o.Visitors <= 0 {
		o.Visitors = 50_000
	}
	if o.End.IsZero() {
		o.End = time.Now()
	}
	if o.Span <= 0 {
		o.Span = 30 * 24 * time.Hour
	}
	if o.Host == "" {
		o.Host = "docs.example.com"
	}
	return o
}

// Generator generates one session after the other, ordered by their start times. Only one goroutine may use a
// Generator.
type Generator struct {
	options Options
	random  *rand.Rand
	site    *site
	rhythm  rhythm
	end     int64 // end of the span, in milliseconds since 1970
	made    int
	totals  Totals

	// Fields of the current session.
	session  []byte // the member `"session":{…}` of its events
	context  string // value of displayContext
	class    string // class of the visitor's user agent
	shareKey string // JSON: a string or null
	landing  string // query of the first page's address
	now      int64
	steps    []step
	next     int
}

// New makes a generator.
func New(o Options) *Generator {
	o = o.withDefaults()
	random := rand.New(rand.NewPCG(o.Seed, 0x6f637461766f))
	return &Generator{
		options: o,
		random:  random,
		site:    newSite(random, o),
		rhythm:  newRhythm(o.End.Add(-o.Span), o.End),
		end:     o.End.UnixMilli(),
		totals:  newTotals(),
	}
}

// AppendBatch appends a request body with n events.
func (g *Generator) AppendBatch(dst []byte, n int) []byte {
	dst = append(dst, `{"events":[`...)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = g.AppendEvent(dst)
	}
	return append(dst, "]}"...)
}

// AppendEvent appends one event.
func (g *Generator) AppendEvent(dst []byte) []byte {
	if g.next == len(g.steps) {
		g.startSession()
	}
	s := &g.steps[g.next]
	// If a session begins just before the span's end, it ends with the span, because the server refuses events in the
	// future.
	g.now = min(g.now+int64(s.after), g.end)
	page := &g.site.pages[s.page]

	dst = append(dst, `{"type":"`...)
	dst = append(dst, kinds[s.kind].name...)
	dst = append(dst, `",`...)
	dst = append(dst, g.session...)
	dst = append(dst, `,"location":{"url":"`...)
	dst = append(dst, page.url...)
	if g.next == 0 {
		dst = append(dst, g.landing...)
	}
	dst = append(dst, `","displayContext":"`...)
	dst = append(dst, g.context...)
	dst = append(dst, `","siteShareKey":`...)
	dst = append(dst, g.shareKey...)
	dst = append(dst, page.ids...)
	dst = append(dst, page.title...)
	if g.context == "server" {
		dst = append(dst, `,"status":`...)
		dst = append(dst, g.status(s)...)
	}
	dst = append(dst, `},"timestamp":"`...)
	dst = time.UnixMilli(g.now).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	dst = append(dst, '"')
	if payload := kinds[s.kind].payload; payload != nil {
		dst = payload(g, dst, s)
	}
	g.totals.Types[kinds[s.kind].name]++
	g.totals.Classes[g.class]++
	g.next++
	g.made++
	return append(dst, '}')
}

// status returns the HTTP status of a program's request. Programs guess some addresses that do not exist, so about
// every sixteenth request gets 404.
func (g *Generator) status(s *step) string {
	if mix(uint64(s.page)^uint64(g.made))%16 == 0 {
		g.totals.NotFound++
		return "404"
	}
	return "200"
}

// Totals returns the totals of the events generated so far.
func (g *Generator) Totals() Totals { return g.totals }

// chance returns true with the probability `share`.
func (g *Generator) chance(share float64) bool { return g.random.Float64() < share }
