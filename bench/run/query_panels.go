package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
)

var presetRange = regexp.MustCompile(`"range":"\w+"`)

// dashboard has the queries of a dashboard: the queries from [questions], and more. $page stands for the most viewed
// page.
var dashboard = slices.Concat(plainQuestions(), []dashboardQuestion{
	{name: "totals", body: `{"range":"r","select":[{"column":"eventsCount"},{"column":"visitorsCount"},{"column":"sessionsCount"}]}`},
	{name: "by hour in Kolkata", body: `{"range":"r","timezone":"Asia/Kolkata","select":[{"column":"datetime","interval":"hour"},{"column":"eventsCount"}],"groupBy":[{"column":"datetime","interval":"hour"}]}`},
	{name: "by week in Berlin", body: `{"range":"r","timezone":"Europe/Berlin","fill":true,"select":[{"column":"datetime","interval":"week"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"week"}]}`},
	{name: "by month in New York", body: `{"range":"r","timezone":"America/New_York","select":[{"column":"datetime","interval":"month"},{"column":"eventsCount"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"month"}]}`},
	{name: "compared by day", body: `{"range":"r","compare":"previousPeriod","select":[{"column":"datetime","interval":"day"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"day"}]}`},
	{name: "hours of the week", body: `{"range":"r","select":[{"column":"dayOfWeek"},{"column":"hourOfDay"},{"column":"eventsCount"}],"groupBy":[{"column":"dayOfWeek"},{"column":"hourOfDay"}]}`},
	{name: "top addresses", body: `{"range":"r","select":[{"column":"url"},{"column":"eventsCount"},{"column":"visitorsCount"}],"groupBy":[{"column":"url"}],"order":{"by":{"column":"eventsCount"},"direction":"desc"},"limit":50}`},
	{name: "entries from elsewhere", body: `{"range":"r","select":[{"column":"urlPath"},{"column":"sessionsCount"}],"groupBy":[{"column":"urlPath"}],"where":[{"column":"referrerDomain","operator":"notIn","values":[""]}],"order":{"by":{"column":"sessionsCount"},"direction":"desc"},"limit":50}`},
	{name: "countries", body: `{"range":"r","select":[{"column":"visitorGeoCountry"},{"column":"visitorsCount"}],"groupBy":[{"column":"visitorGeoCountry"}],"order":{"by":{"column":"visitorsCount"},"direction":"desc"},"limit":20}`},
	{name: "languages", body: `{"range":"r","select":[{"column":"visitorLanguage"},{"column":"visitorsCount"}],"groupBy":[{"column":"visitorLanguage"}],"limit":20}`},
	{name: "campaigns", body: `{"range":"r","select":[{"column":"utmSource"},{"column":"utmCampaign"},{"column":"sessionsCount"}],"groupBy":[{"column":"utmSource"},{"column":"utmCampaign"}],"limit":50}`},
	{name: "enterprise by day", body: `{"range":"r","select":[{"column":"datetime","interval":"day"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"day"}],"where":[{"column":"visitorClaim","claim":"plan","operator":"in","values":["enterprise"]}]}`},
	{name: "links", body: `{"range":"r","select":[{"column":"eventLinkTargetDomain"},{"column":"eventsCount"}],"groupBy":[{"column":"eventLinkTargetDomain"}],"where":[{"column":"eventType","operator":"in","values":["link_click"]}],"limit":50}`},
	{name: "bots", body: `{"range":"r","select":[{"column":"visitorBot"},{"column":"eventsCount"}],"groupBy":[{"column":"visitorBot"}]}`},
	{name: "phones or tablets by browser", body: `{"range":"r","select":[{"column":"visitorBrowser"},{"column":"sessionsCount"}],"groupBy":[{"column":"visitorBrowser"}],"where":[{"or":[{"column":"visitorDevice","operator":"in","values":["mobile"]},{"column":"visitorDevice","operator":"in","values":["tablet"]}]}]}`},
	{name: "visitor segments", path: "/visitor-segments"},
	{name: "one page by day", filters: true, body: `{"range":"r","select":[{"column":"datetime","interval":"day"},{"column":"eventsCount"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"day"}],"where":[{"column":"page","operator":"in","values":[$page]}]}`},
	{name: "addresses that contain a word", filters: true, body: `{"range":"r","select":[{"column":"url"},{"column":"eventsCount"}],"groupBy":[{"column":"url"}],"where":[{"column":"url","operator":"contains","values":["authentication"]}],"order":{"by":{"column":"eventsCount"},"direction":"desc"},"limit":50}`},
	{name: "searches that contain a word", filters: true, body: `{"range":"r","select":[{"column":"eventSearchQuery"},{"column":"eventsCount"}],"groupBy":[{"column":"eventSearchQuery"}],"where":[{"column":"eventSearchQuery","operator":"contains","values":["web"]}],"limit":100}`},
	{name: "links in the content by day", filters: true, body: `{"range":"r","select":[{"column":"datetime","interval":"day"},{"column":"eventsCount"}],"groupBy":[{"column":"datetime","interval":"day"}],"where":[{"column":"eventLinkPosition","operator":"in","values":["content"]}]}`},
})

type dashboardQuestion struct {
	name, body string
	path       string // path below the site's insights, for a query that has no body and no range
	filters    bool   // whether it filters by columns that visits lack; for 12 months, it has a separate row
}

func plainQuestions() (list []dashboardQuestion) {
	for _, q := range questions {
		list = append(list, dashboardQuestion{name: q.name, body: q.body})
	}
	return list
}

// panel is a query about a site and a range of time.
type panel struct {
	dashboardQuestion
	site, days int // rank of the site by size (1 is the largest), and number of days of the range
	id         string
	request    []byte
	raw, bare  []statement // raw has statements that read only events; bare has the statements that the node sends
	source     string      // from where the node read the answer, and whether the answer is exact
}

// apart reports whether the panel is in a separate row, to which no goal applies.
func (p panel) apart() bool { return p.filters && p.days == askedDays[len(askedDays)-1] }

// panels returns the panels of three sites and three ranges. No range ends at a full quarter of an hour. Otherwise the
// node could answer only from aggregates of whole quarters.
func (b *bench) panels(ctx context.Context, s *querySize) ([]panel, error) {
	to := s.End.Add(-17*time.Minute - 13*time.Second)
	at := func(days int) string {
		return fmt.Sprintf(
			`"range":{"from":%q,"to":%q}`,
			to.Add(-time.Duration(days)*24*time.Hour).Format(time.RFC3339),
			to.Format(time.RFC3339),
		)
	}
	largest := target{org: s.Org, site: s.Sites[0]}
	mostSeen := `{` + at(askedDays[len(askedDays)-1]) + `,"select":[{"column":"page"},{"column":"eventsCount"}],` +
		`"groupBy":[{"column":"page"}],"where":[{"column":"eventType","values":["page_view"],"operator":"in"}],` +
		`"order":{"by":{"column":"eventsCount"},"direction":"desc"},"limit":1}`
	top, err := b.rig.aggregate(ctx, largest, []byte(mostSeen))
	if err != nil || len(top.Columns) == 0 || len(top.Columns[0].Values) != 1 {
		return nil, fmt.Errorf("cannot find the page that is seen most: %v %w", top, err)
	}
	var list []panel
	n := 0
	for _, site := range askedSites {
		for _, days := range askedDays {
			for _, q := range dashboard {
				if q.path != "" && days != 30 {
					continue
				}
				if n++; n%b.every != 0 {
					continue
				}
				p := panel{dashboardQuestion: q, site: site, days: days, id: s.Sites[site-1]}
				p.body = strings.Replace(presetRange.ReplaceAllString(q.body, at(days)), "$page", string(top.Columns[0].Values[0]), 1)
				method, path := http.MethodPost, "/events/aggregate"
				if q.path != "" {
					method, path = http.MethodGet, q.path
				}
				p.request = loadgen.Request(method, b.rig.Address, target{org: s.Org, site: p.id}.insights()+path, b.rig.Token, []byte(p.body), uncached)
				if err := p.record(ctx, s); err != nil {
					return nil, fmt.Errorf("%s: %w", q.name, err)
				}
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// readyOnly is a part of the statement with which the query service checks whether it can read visits. If this
// statement fails, the service reads events instead.
const readyOnly = "mergeTreeProjection"

// record sends the panel's query to a query service in this process, and records the statements that the service sends.
func (p *panel) record(ctx context.Context, s *querySize) error {
	config := query.DefaultConfig()
	config.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	// Statements that read only events may need more time and memory than a node allows.
	config.MaxTime, config.MaxMemory = 10*time.Minute, 8<<30
	ask := func(service *query.Service) (headers map[string]string, err error) {
		if p.path != "" {
			_, headers, err = service.VisitorSegments(ctx, query.Caller{}, p.id, schema.PageRequest{}, time.Now())
			return headers, err
		}
		_, headers, err = service.Answer(ctx, query.Caller{}, query.Aggregate, p.id, []byte(p.body), time.Now())
		return headers, err
	}
	var headers map[string]string
	var err error
	if p.raw, headers, err = statementsOf(&listening{Conn: s.conn, refused: readyOnly}, config, ask); err != nil {
		return err
	}
	if headers["Octavo-Source"] != "raw" || headers["Octavo-Result"] != "exact" {
		return fmt.Errorf("the statement to compare with reads %s, %s", headers["Octavo-Source"], headers["Octavo-Result"])
	}
	if p.bare, headers, err = statementsOf(&listening{Conn: s.conn}, config, ask); err != nil {
		return err
	}
	p.source = headers["Octavo-Source"] + ", " + headers["Octavo-Result"]
	return nil
}

// ask sends the panel's request and returns the response time in milliseconds.
func (p panel) ask(conn *loadgen.Conn) (float64, error) {
	began := time.Now()
	status, answer, err := conn.Exchange(p.request)
	took := time.Since(began)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %.500s", status, answer)
	}
	if err != nil {
		return 0, fmt.Errorf("%s, site %d, %d days: %w", p.name, p.site, p.days, err)
	}
	return millis(took), nil
}
