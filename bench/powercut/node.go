package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/schema/insights"
)

// node is the node whose disk loses power.
type node struct{ single.Node }

// engines has the addresses of the running engines.
type engines struct {
	Postgres   string `json:"postgres"`
	ClickHouse string `json:"clickhouse"`
}

func (n *node) engines() (e engines, err error) {
	text, err := os.ReadFile(filepath.Join(n.Dir, "engines.json"))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return e, fmt.Errorf("cannot read the engines' addresses: %w", err)
	}
	return e, nil
}

// site is the site that receives the events of a life.
type site struct{ org, id string }

func (s site) events() string { return product.Insights(s.org, s.id) + "/events" }

// create creates an organization and a site.
func (n *node) create(ctx context.Context) (s site, err error) {
	if s.org, err = n.Client.Create(ctx, "/v1/orgs", "Power cut"); err != nil {
		return s, err
	}
	s.id, err = n.Client.Create(ctx, "/v1/orgs/"+url.PathEscape(s.org)+"/sites", "Power cut")
	return s, err
}

// refusable is a part of the URL of some events. The table refuses these events, so the sink writes dead letters for
// them.
const refusable = "/refused-by-the-table/"

// refuse adds a constraint to the events table, which then refuses rows whose URL contains `refusable`.
func refuse(ctx context.Context, t *witness.Table) error {
	return t.Exec(ctx, "ALTER TABLE "+insights.Table+" ADD CONSTRAINT IF NOT EXISTS octavo_powercut CHECK position(url, '"+refusable+"') = 0")
}

// postRefusable posts one event that the table refuses.
func (n *node) postRefusable(ctx context.Context, s site, id int) error {
	body := fmt.Sprintf(`{"events":[{"type":"page_view","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://docs.example.com%s%d"}}]}`, refusable, id)
	return n.Client.Call(ctx, http.MethodPost, s.events(), []byte(body), http.StatusNoContent, nil)
}

// deadLetters returns the number of dead letters that `octavo deadletter list` prints.
func (n *node) deadLetters(ctx context.Context) (int, error) {
	out, err := n.Run(ctx, nil, "deadletter", "list", "--json", "--limit", "0")
	if err != nil {
		return 0, fmt.Errorf("cannot list the dead letters: %w", err)
	}
	var list []jsontext.Value
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return 0, fmt.Errorf("cannot read the list of dead letters: %w", err)
	}
	return len(list), nil
}

// stop stops the node with SIGTERM, as an operator does, and then kills the remaining processes.
func (n *node) stop() error { return errors.Join(n.Stop(), killAll(time.Minute)) }
