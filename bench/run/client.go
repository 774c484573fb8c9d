package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/product"
)

// client sends single requests to a node. The package loadgen sends loads.
type client struct{ product.Client }

// answer is the answer to an aggregate request.
type answer struct {
	Columns []struct {
		Column string
		Values []jsontext.Value
	}
}

func (c client) aggregate(ctx context.Context, t target, body []byte) (answer, error) {
	var a answer
	err := c.Call(ctx, http.MethodPost, t.insights()+"/events/aggregate", body, http.StatusOK, &a)
	return a, err
}

// events returns the number of a site's events by a query.
func (c client) events(ctx context.Context, t target) (int, error) {
	a, err := c.aggregate(ctx, t, []byte(`{"range":{"from":"2000-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},"select":[{"column":"eventsCount"}]}`))
	if err != nil {
		return 0, err
	}
	if len(a.Columns) != 1 || len(a.Columns[0].Values) != 1 {
		return 0, fmt.Errorf("unexpected count of the events of %s: %v", url.PathEscape(t.site), a)
	}
	var n int
	err = json.Unmarshal(a.Columns[0].Values[0], &n)
	return n, err
}

// awaitEvents waits until a query returns `want` as the number of the site's events. It fails if the number does not
// increase for the time `patience`.
func (c client) awaitEvents(ctx context.Context, t target, want int, patience time.Duration) error {
	seen, since := -1, time.Now()
	for {
		n, err := c.events(ctx, t)
		switch {
		case err != nil:
			return err
		case n == want:
			return nil
		case n > want:
			return fmt.Errorf("the site has %d events, but only %d were sent", n, want)
		case n != seen:
			seen, since = n, time.Now()
		case time.Since(since) > patience:
			return fmt.Errorf("a query sees %d of %d acknowledged events, and no more for %s", n, want, patience)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// uncached is a request header. With it, the node does not answer a query from its cache.
const uncached = "Cache-Control: no-cache"

// again prepares a request. The function `send` sends this request each time it is called, on the same connection.
func (c client) again(method, path string, body []byte, want int) (send func() error, done func(), err error) {
	conn, err := loadgen.Dial(c.Address, time.Minute)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot reach the server: %w", err)
	}
	request := loadgen.Request(method, c.Address, path, c.Token, body, uncached)
	return func() error {
		status, answer, err := conn.Exchange(request)
		if err == nil && status != want {
			err = fmt.Errorf("%s %s answered %d, want %d: %.500s", method, path, status, want, answer)
		}
		return err
	}, conn.Close, nil
}
