package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
)

// heavyQuery counts visitors by many columns. lightQuery is a typical query of the dashboard.
const (
	heavyQuery = `{"range":"last3Months","select":[{"column":"page"},{"column":"datetime","interval":"hour"},{"column":"visitorBrowser"},{"column":"eventSearchQuery"},{"column":"visitorsCount"},{"column":"sessionsCount"}],` +
		`"groupBy":[{"column":"page"},{"column":"datetime","interval":"hour"},{"column":"visitorBrowser"},{"column":"eventSearchQuery"}],"order":{"by":{"column":"visitorsCount"},"direction":"desc"},"limit":100}`
	lightQuery = `{"range":"last7Days","select":[{"column":"datetime","interval":"day"},{"column":"eventsCount"}],"groupBy":[{"column":"datetime","interval":"day"}]}`
)

// refusedPause is the time that a client waits after a refused query. The header Retry-After of the response has the
// same time.
const refusedPause = time.Second

// queries measures light queries of one token while another token runs heavy queries.
func (o options) queries(ctx context.Context, node *node) error {
	path, err := o.seed(ctx, node)
	if err != nil {
		return err
	}
	var user struct{ ID string }
	if err := node.Client.Call(ctx, http.MethodGet, "/v1/user", nil, http.StatusOK, &user); err != nil {
		return err
	}
	other, err := node.Run(ctx, nil, "token", "create", "--user", user.ID)
	if err != nil {
		return err
	}
	ask := question{http.MethodPost, path, strings.TrimSpace(other), lightQuery}
	heavy := question{http.MethodPost, path, node.Client.Token, heavyQuery}
	attacks := []*attack{{name: strconv.Itoa(o.Queries) + " heavy queries of one token"}}
	idle, err := o.series(ctx, node, ask, attacks, func(a *attack) error {
		attacking, end := context.WithCancel(ctx)
		var askers sync.WaitGroup
		for range o.Queries {
			askers.Go(func() {
				for attacking.Err() == nil {
					status, err := node.do(attacking, heavy)
					if err == nil && status == http.StatusOK {
						a.opened.Add(1)
						continue
					}
					select {
					case <-time.After(refusedPause):
					case <-attacking.Done():
					}
				}
			})
		}
		err := a.look(ctx, node, o, ask)
		end()
		askers.Wait()
		return err
	})
	if err != nil {
		return err
	}
	if attacks[0].opened.Load() == 0 {
		return errors.New("no heavy query was answered")
	}
	return judge(idle, attacks, 0, 3)
}

// seed fills a site with events and returns the path for aggregate queries.
func (o options) seed(ctx context.Context, node *node) (path string, err error) {
	organization, err := node.Client.Create(ctx, "/v1/orgs", "Abuse")
	if err != nil {
		return "", err
	}
	site, err := node.Client.Create(ctx, "/v1/orgs/"+organization+"/sites", "Docs")
	if err != nil {
		return "", err
	}
	settings := []string{"OCTAVO_TOKEN=" + node.Client.Token, "OCTAVO_URL=http://" + node.Client.Address}
	if _, err := node.Run(ctx, settings, "seed", "--org", organization, "--site", site, "--events", strconv.Itoa(o.Events)); err != nil {
		return "", fmt.Errorf("cannot seed: %w", err)
	}
	return product.Insights(organization, site) + "/events/aggregate", nil
}
