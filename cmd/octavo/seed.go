package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// SeedCmd sends realistic visitor events to a server through its public API, like a site.
type SeedCmd struct {
	URL         string `help:"Address of the server." default:"http://127.0.0.1:8080" env:"OCTAVO_URL"`
	Token       string `help:"API token of a user. With --org and --site, a site key will do." required:"" env:"OCTAVO_TOKEN" secret:""`
	Events      int    `help:"Number of events to send." default:"500000"`
	Days        int    `help:"Spread the events over this many days until now." default:"30"`
	Visitors    int    `help:"Number of different visitors." default:"50000"`
	Org         string `env:"OCTAVO_ORG" help:"Id of the organization to use. Default: a new one, Example docs."`
	Site        string `env:"OCTAVO_SITE" help:"Id of the organization's site to use. Its events have addresses and titles, without spaces. Default: a new one, Example docs, with spaces."`
	Batch       int    `help:"Events per request." default:"500"`
	Concurrency int    `help:"Requests at the same time." default:"4"`
	Seed        uint64 `help:"Seed of the generator: the same seed gives the same visitors, pages and sessions." default:"1"`
}

// Validate is called by kong before Run.
func (c *SeedCmd) Validate() error {
	base, err := url.Parse(c.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return fmt.Errorf("--url %q is not an address such as http://127.0.0.1:8080", c.URL)
	case c.Events < 1 || c.Days < 1 || c.Visitors < 1 || c.Batch < 1 || c.Concurrency < 1:
		return errors.New("--events, --days, --visitors, --batch and --concurrency must be at least 1")
	case c.Site != "" && c.Org == "":
		return errors.New("--site needs --org, the organization that the site belongs to")
	}
	return nil
}

// Run sends the events; it stops cleanly on SIGINT and SIGTERM.
func (c *SeedCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	return c.run(ctx, os.Stdout, &seedLines{to: os.Stderr, all: c.Events, began: time.Now(), every: 5 * time.Second})
}

func (c *SeedCmd) run(ctx context.Context, out io.Writer, progress *seedLines) error {
	client, release := newSeedClient(ctx, strings.TrimRight(c.URL, "/"), c.Token, c.Concurrency)
	defer release()
	target, err := c.target(ctx, client, out)
	if err != nil {
		return err
	}
	began := time.Now()
	sent, err := c.send(ctx, client, target, progress)
	progress.done()
	took := time.Since(began)
	say(out, "Sent %d of %d events to site %s of organization %s in %s (%.0f events/s).\n",
		sent, c.Events, target.site, target.org, took.Round(time.Millisecond), float64(sent)/took.Seconds())
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped after %d of %d events", sent, c.Events)
	case err != nil:
		return fmt.Errorf("seeding failed after %d of %d events: %w", sent, c.Events, err)
	}
	say(out, "The visits of the last 30 days, by device and day, with the token in OCTAVO_TOKEN:\n\n%s\n", c.example(target))
	return nil
}

// seedTarget is the site that gets the events.
type seedTarget struct {
	org, site string
	spaces    []string
	// pages has, for each space, the ids of its pages by their paths.
	pages []map[string]string
}

func (t seedTarget) insights() string {
	return "/v1/orgs/" + url.PathEscape(t.org) + "/sites/" + url.PathEscape(t.site) + "/insights"
}

// target creates the organization and the site, unless the flags name them.
func (c *SeedCmd) target(ctx context.Context, client *seedClient, out io.Writer) (seedTarget, error) {
	t := seedTarget{org: c.Org, site: c.Site}
	if t.site != "" {
		// A site key may only post events, so make no other request.
		return t, nil
	}
	// Check the token before creating anything.
	if err := client.get(ctx, "/v1/user"); err != nil {
		return t, fmt.Errorf("cannot use the token: %w", err)
	}
	var err error
	if t.org == "" {
		if t.org, err = client.create(ctx, "/v1/orgs", map[string]any{"title": "Example docs"}); err != nil {
			return t, fmt.Errorf("cannot create an organization: %w", err)
		}
		say(out, "Created organization %s, Example docs.\n", t.org)
	}
	org := "/v1/orgs/" + url.PathEscape(t.org)
	topics := eventgen.SpaceTopics()
	for at, title := range eventgen.SpaceTitles() {
		id, err := client.create(ctx, org+"/spaces", map[string]any{"title": title})
		if err != nil {
			return t, fmt.Errorf("cannot create the space %s: %w", title, err)
		}
		pages, err := client.write(ctx, id, topics[at])
		if err != nil {
			return t, fmt.Errorf("cannot write the pages of the space %s: %w", title, err)
		}
		t.spaces, t.pages = append(t.spaces, id), append(t.pages, pages)
	}
	if t.site, err = client.create(ctx, org+"/sites", map[string]any{"title": "Example docs", "spaces": t.spaces}); err != nil {
		return t, fmt.Errorf("cannot create a site: %w", err)
	}
	say(out, "Created site %s, Example docs, with %d spaces.\n", t.site, len(t.spaces))
	return t, nil
}

type seedBatch struct {
	number, events int
	body           []byte
}

// send generates and posts the events and returns how many were acknowledged.
func (c *SeedCmd) send(ctx context.Context, client *seedClient, target seedTarget, progress *seedLines) (int, error) {
	generator := eventgen.New(eventgen.Options{
		Seed: c.Seed, Events: c.Events, Visitors: c.Visitors, Spaces: target.spaces, Pages: target.pages,
		NoSpaces: c.Site != "",
		End:      time.Now(), Span: time.Duration(c.Days) * 24 * time.Hour,
	})
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan seedBatch, c.Concurrency)
	free := make(chan []byte, 2*c.Concurrency+1)
	for range cap(free) {
		free <- nil
	}
	group.Go(func() error {
		defer close(batches)
		for number, left := 0, c.Events; left > 0; number++ {
			var buffer []byte
			select {
			case buffer = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			n := min(c.Batch, left)
			left -= n
			batch := seedBatch{number: number, events: n, body: generator.AppendBatch(buffer[:0], n)}
			select {
			case batches <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	var sent atomic.Int64
	path := target.insights() + "/events"
	for range c.Concurrency {
		group.Go(func() error {
			for batch := range batches {
				if err := client.post(ctx, path, batch.number, batch.body); err != nil {
					return fmt.Errorf("batch %d of %d events: %w", batch.number, batch.events, err)
				}
				sent.Add(int64(batch.events))
				progress.add(batch.events)
				free <- batch.body
			}
			return nil
		})
	}
	err := group.Wait()
	return int(sent.Load()), err
}

// example returns a command that queries the sent events. The command reads the token from the environment, to keep it
// out of logs.
func (c *SeedCmd) example(t seedTarget) string {
	return `curl -s -H "Authorization: Bearer $OCTAVO_TOKEN" -H 'Content-Type: application/json' \
  -d '{"range":"last30Days","select":[{"column":"datetime","interval":"day"},{"column":"visitorDevice"},{"column":"eventsCount"},{"column":"visitorsCount"}],` +
		`"groupBy":[{"column":"datetime","interval":"day"},{"column":"visitorDevice"}],"where":[{"column":"eventType","values":["page_view"],"operator":"in"}]}' \
  ` + strings.TrimRight(c.URL, "/") + t.insights() + `/events/aggregate
`
}

// say prints for a person to read, so it ignores write errors.
func say(out io.Writer, format string, values ...any) { _, _ = fmt.Fprintf(out, format, values...) }
