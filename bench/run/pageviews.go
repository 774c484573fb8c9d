package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

const (
	pageViewsPart = "pageviews"
	// viewRate is the number of page views in a second. Half of the views are of the home page.
	viewRate = 50
	// viewers is the number of visitors. Each visitor has a separate token. There are so many visitors that most tokens
	// are no longer in the node's cache when they are used again.
	viewers = 1000
	// viewBudget is the budget in milliseconds for the 95th percentile of each call's response time.
	viewBudget = 20

	viewedHost = "docs.bench.example"
)

// call is an API call that a front end makes for a page view. The load sends the requests in turn, at `rate` requests
// per second, and expects the status `status`.
type call struct {
	name     string
	requests [][]byte
	rate     float64
	status   int
}

// pageViewRows measures the calls that a front end makes for views of a site with many pages. All calls are measured at
// the same time.
func (b *bench) pageViewRows(ctx context.Context) error {
	calls, err := b.pageViewCalls(ctx)
	if err != nil {
		return err
	}
	results := make([]loadgen.Result, len(calls))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range calls {
		group.Go(func() (err error) {
			results[i], err = loadgen.Run(ctx, loadgen.Load{
				Address: b.rig.Address, Requests: c.requests, Connections: 8, Rate: c.rate, Warmup: b.views / 10, Duration: b.views,
			})
			if err == nil {
				err = results[i].Only(c.status)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", c.name, err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, c := range calls {
		result := &results[i]
		b.report.add(row{
			What: "page view: " + c.name + ", p95", Unit: "ms", Ours: spreadOf([]float64{millis(result.Quantile(0.95))}), Budget: &budget{AtMost: viewBudget},
			Notes: []string{fmt.Sprintf("%.0f requests/s, p50 %s, p99 %s", c.rate, milliseconds(result.Quantile(0.5)), milliseconds(result.Quantile(0.99)))},
		})
	}
	b.report.note(fmt.Sprintf("%d page views/s of a site of %d pages, %d visitors with a token each, the load on the same machine; the node's memory was %.0f MB at most",
		viewRate, b.viewedPages, viewers, b.rig.nodeProcess().Memory("VmHWM")))
	return nil
}

// pageViewCalls creates a site, and returns the calls for views of the site's pages.
func (b *bench) pageViewCalls(ctx context.Context) ([]call, error) {
	r := b.rig
	space, err := b.filledSpace(ctx, b.viewedPages)
	if err != nil {
		return nil, err
	}
	id, err := r.newSite(ctx)
	if err != nil {
		return nil, err
	}
	site := "/v1/orgs/" + url.PathEscape(r.org) + "/sites/" + url.PathEscape(id)
	for _, step := range []struct {
		method, path string
		body         any
		status       int
	}{
		{http.MethodPost, site + "/site-spaces", map[string]any{"spaceId": space}, http.StatusCreated},
		{http.MethodPatch, site, map[string]any{"hostname": viewedHost, "adaptiveContent": map[string]any{"enabled": true}}, http.StatusOK},
		{http.MethodPost, site + "/publish", map[string]any{}, http.StatusOK},
	} {
		if err := r.Call(ctx, step.method, step.path, step.body, step.status, nil); err != nil {
			return nil, err
		}
	}
	frontEnd, err := b.frontEnd(ctx, id)
	if err != nil {
		return nil, err
	}
	deep := pagePath(siblings + 1)
	tokens := make([]string, viewers)
	var resolves [][]byte
	for i := range tokens {
		var found struct {
			APIToken string `json:"apiToken"`
		}
		body, err := json.Marshal(map[string]any{
			"url":     "https://" + viewedHost + "/" + deep,
			"visitor": map[string]any{"type": "human", "unsignedClaims": map[string]any{"visitor": i}},
		})
		if err != nil {
			return nil, err
		}
		asFrontEnd := r.Client
		asFrontEnd.Token = frontEnd
		if err := asFrontEnd.Call(ctx, http.MethodPost, "/v1/urls/published", body, http.StatusOK, &found); err != nil {
			return nil, err
		}
		tokens[i] = found.APIToken
		resolves = append(resolves, loadgen.Request(http.MethodPost, r.Address, "/v1/urls/published", frontEnd, body))
	}
	var current struct{ Revision string }
	if err := r.Call(ctx, http.MethodGet, spacePath(space), nil, http.StatusOK, &current); err != nil {
		return nil, err
	}
	revision := spacePath(space) + "/revisions/" + url.PathEscape(current.Revision)
	var page struct{ ID string }
	if err := r.Call(ctx, http.MethodGet, revision+"/path/"+deep, nil, http.StatusOK, &page); err != nil {
		return nil, err
	}
	reads := func(path string) (list [][]byte) {
		for _, token := range tokens {
			list = append(list, loadgen.Request(http.MethodGet, r.Address, path, token, nil))
		}
		return list
	}
	one := revision + "/page/" + url.PathEscape(page.ID)
	return []call{
		// A front end resolves each prefix of an address: one prefix for the home page, three for a deep page.
		{"resolve", resolves, viewRate * 2, http.StatusOK},
		{"published site", reads(site + "/published"), viewRate, http.StatusOK},
		{"space", reads(spacePath(space)), viewRate, http.StatusOK},
		{"revision with its tree", reads(revision + "?metadata=true"), viewRate, http.StatusOK},
		// A front end makes this call only if the tree has no page with the requested path, for example for old links
		// to moved pages.
		{"page by path, one view in ten", reads(revision + "/path/" + url.PathEscape(deep)), viewRate / 10, http.StatusOK},
		{"document", reads(one + "/document?evaluated=deterministic-only&dereferenced=reusable-contents"), viewRate, http.StatusOK},
		{"meta-links", reads(one + "/meta-links"), viewRate, http.StatusOK},
		{"events", requests(b.loadBodies(1), r.Address, site+"/insights/events", frontEnd), viewRate, http.StatusNoContent},
	}, nil
}

// frontEnd marks the site's hostname as proved by an operator, and returns a token for a front end.
func (b *bench) frontEnd(ctx context.Context, site string) (string, error) {
	st, err := store.New(postgres.Config{URL: b.rig.engines.PostgresURL}, store.Config{})
	if err != nil {
		return "", err
	}
	if err := st.Start(ctx); err != nil {
		return "", err
	}
	defer st.Stop()
	if _, err := st.Sites.ProveHostname(ctx, site, viewedHost, postgres.ProvedByOperator); err != nil {
		return "", err
	}
	token, _, err := st.CreateToken(ctx, store.NewToken{FrontEnd: true, Name: "benchmark"})
	return token, err
}
