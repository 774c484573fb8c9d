package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/ingest/eventgen"
)

const (
	perRequest = 100 // number of events of a request
	visitors   = 50_000
	// newest is the age of the newest session when it is sent. A session's events follow within half an hour, and the
	// node refuses events of the future.
	newest = 45 * time.Minute
	// glance is the time between two looks at a dashboard.
	glance = 5 * time.Second
	// rest is the time between two edits of an editor.
	rest = 2 * time.Second
)

// sending describes the events of a site.
type sending struct {
	seed uint64
	rate int // events per second
	span time.Duration
}

// send posts a site's events at a fixed rate. A request that is late does not delay the next, so response times count
// from the time at which a request was due.
func (p *place) send(ctx context.Context, r *recorder, site string, s sending) error {
	events := max(perRequest, int(float64(s.rate)*s.span.Seconds()))
	generator := eventgen.New(eventgen.Options{
		Seed: s.seed, Events: events, Visitors: visitors, End: time.Now().Add(s.span - newest), Span: s.span,
	})
	conn, err := loadgen.Dial(p.Client.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	path := product.Insights(p.org, site) + "/events"
	began := time.Now()
	gap := float64(perRequest) / float64(s.rate) * float64(time.Second)
	for n := 0; ; n++ {
		due := began.Add(time.Duration(float64(n) * gap))
		if !pause(ctx, time.Until(due)) {
			return nil
		}
		body := generator.AppendBatch(nil, perRequest)
		request := loadgen.Request(http.MethodPost, p.Client.Address, path, p.Client.Token, body)
		status, answer, err := conn.Exchange(request)
		if err == nil && status != http.StatusNoContent {
			err = fmt.Errorf("status %d: %.300s", status, answer)
		}
		if err != nil {
			return fmt.Errorf("cannot send events: %w", err)
		}
		r.took(intake, time.Since(due))
		r.sent.Add(perRequest)
	}
}

// panels has the queries of a dashboard, without their range.
var panels = []string{
	`"select":[{"column":"eventsCount"},{"column":"visitorsCount"},{"column":"sessionsCount"}]`,
	`"select":[{"column":"datetime","interval":"minute"},{"column":"visitorsCount"}]`,
	`"select":[{"column":"visitorGeoCountry"},{"column":"bounceRate"}],"limit":20`,
	`"select":[{"column":"urlPath"},{"column":"eventsCount"}],` +
		`"order":{"by":{"column":"eventsCount"},"direction":"desc"},"limit":50`,
}

// watch looks at a dashboard again and again. `window` is the length of the range of the panels.
func (p *place) watch(ctx context.Context, r *recorder, site string, window time.Duration) error {
	for pause(ctx, glance) {
		if err := p.glance(r, product.Insights(p.org, site), window); err != nil {
			return fmt.Errorf("a dashboard: %w", err)
		}
	}
	return nil
}

// glance sends the queries of a dashboard, one after the other. The panels' range has a constant length and ends in the
// past, so that it has as many events in each minute. Cached
// answers are allowed, as for a browser.
func (p *place) glance(r *recorder, insights string, window time.Duration) error {
	conn, err := loadgen.Dial(p.Client.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	send := func(kind, method, path, body string) error {
		return r.timed(kind, func() error {
			request := loadgen.Request(method, p.Client.Address, insights+path, p.Client.Token, []byte(body))
			status, answer, err := conn.Exchange(request)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%s answered %d: %.300s", body, status, answer)
			}
			return err
		})
	}
	const aggregate = "/events/aggregate"
	to := time.Now().Add(-newest).UTC()
	span := fmt.Sprintf(`"range":{"from":%q,"to":%q},`, to.Add(-window).Format(time.RFC3339), to.Format(time.RFC3339))
	for _, panel := range panels {
		if err := send(dashboards, http.MethodPost, aggregate, "{"+span+panel+"}"); err != nil {
			return err
		}
	}
	// The first panel over the whole day reads more events with each minute.
	if err := send(growing, http.MethodPost, aggregate, `{"range":"last24Hours",`+panels[0]+"}"); err != nil {
		return err
	}
	return send(growing, http.MethodGet, "/visitor-segments", "")
}

// space is a space with pages that an editor edits.
type space struct {
	path  string
	pages []string // ids
	edits int
}

// spacePages is the number of pages of a space.
const spacePages = 50

type document map[string]any

// newSpace creates an editor's space with its pages.
func (p *place) newSpace(ctx context.Context, editor int) (*space, error) {
	id, err := p.Client.Create(ctx, p.path("spaces"), fmt.Sprintf("Space of editor %d", editor))
	if err != nil {
		return nil, err
	}
	s := &space{path: "/v1/spaces/" + url.PathEscape(id)}
	var changes []document
	for i := range spacePages {
		changes = append(changes, document{
			"operation": "insert_page", "title": fmt.Sprintf("Page %d", i), "slug": fmt.Sprintf("page-%d", i),
			"document": document{"markdown": text(i, 0)},
		})
	}
	unmeasured := &recorder{times: map[string][]time.Duration{}}
	if err := p.change(unmeasured, s, changes); err != nil {
		return nil, err
	}
	var content struct{ Pages []struct{ ID string } }
	if err := p.Client.Call(ctx, http.MethodGet, s.path+"/content/pages", nil, http.StatusOK, &content); err != nil {
		return nil, err
	}
	for _, page := range content.Pages {
		s.pages = append(s.pages, page.ID)
	}
	if len(s.pages) != spacePages {
		return nil, fmt.Errorf("the space has %d pages, want %d", len(s.pages), spacePages)
	}
	return s, nil
}

// text returns the Markdown of a page. Each edit replaces one sentence.
func text(page, edit int) string {
	const steps = "* first step\n\n```sh\nmake run\n```\n\n## Use\n\nThe **guide** continues with settings.\n"
	return fmt.Sprintf("## Install\n\nPage %d of the guide. Edit %d changed this sentence.\n\n%s", page, edit, steps)
}

// call makes a request of an editor and records its time. A request that has begun ends, even if the run ends.
func (p *place) call(r *recorder, method, path string, body any, want int, into any) error {
	return r.timed(editors, func() error { return p.Client.Call(context.Background(), method, path, body, want, into) })
}

// change makes changes in a change request and merges it.
func (p *place) change(r *recorder, s *space, changes []document) error {
	var request struct{ ID string }
	path := s.path + "/change-requests"
	if err := p.call(r, http.MethodPost, path, document{}, http.StatusCreated, &request); err != nil {
		return err
	}
	path += "/" + url.PathEscape(request.ID)
	update := document{"changes": changes}
	if err := p.call(r, http.MethodPost, path+"/content", update, http.StatusOK, nil); err != nil {
		return err
	}
	comment := document{"body": document{"markdown": "Looks **good**."}}
	if err := p.call(r, http.MethodPost, path+"/comments", comment, http.StatusOK, nil); err != nil {
		return err
	}
	var merged struct{ Result string }
	if err := p.call(r, http.MethodPost, path+"/merge", nil, http.StatusOK, &merged); err != nil {
		return err
	}
	if merged.Result != "merge" {
		return fmt.Errorf("the result of merging is %q", merged.Result)
	}
	return nil
}

// edit edits page after page of a space, and searches and reads in between.
func (p *place) edit(ctx context.Context, r *recorder, s *space) error {
	for pause(ctx, rest) {
		page := s.edits % len(s.pages)
		s.edits++
		update := document{
			"operation": "update_page", "page": s.pages[page], "document": document{"markdown": text(page, s.edits)},
		}
		if err := p.change(r, s, []document{update}); err != nil {
			return err
		}
		for _, path := range []string{
			"/search?limit=20&query=guide", fmt.Sprintf("/content/path/page-%d", page), "/content/pages",
		} {
			if err := p.call(r, http.MethodGet, s.path+path, nil, http.StatusOK, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
