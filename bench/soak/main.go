package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

type command struct {
	Minutes    int           `default:"60" help:"Number of rows, one for each minute. At least 5."`
	Minute     time.Duration `default:"1m" help:"Time of a row. A shorter time makes a smoke run."`
	Rate       int           `default:"8000" help:"Events per second, of all sites."`
	Sites      int           `default:"8" help:"Number of sites that send events."`
	Dashboards int           `default:"2" help:"Number of dashboards."`
	Editors    int           `default:"4" help:"Number of editors."`
	Binary     string        `type:"path" help:"Path of an octavo binary. Default: build one from the module."`
	Record     bool          `help:"Keep the result in bench/results."`
}

func main() {
	var c command
	ctx := kong.Parse(&c, kong.Name("soak"),
		kong.Description("Puts everybody's work on one node, and checks that nothing grows."))
	ctx.FatalIfErrorf(ctx.Run())
}

// Run runs the work, prints the table and judges it. An interrupt ends the run early, and the table has the minutes
// until then.
func (c *command) Run() (err error) {
	if c.Minutes < 5 {
		return errors.New("--minutes must be at least 5, because fifths of the minutes are compared")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	run, err := machine.Begin(ctx, "./bench/soak")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "octavo-soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result, err := c.soak(ctx, dir)
	run.End()
	if len(result.minutes) == 0 {
		return err
	}
	result.failed = errors.Join(err, result.judge())
	text := run.Head("Everybody at once") + "\n" + c.describe() + "\n" + result.markdown()
	fmt.Print("\n", text)
	if c.Record {
		if _, err := run.Save("", "-soak", map[string][]byte{".md": []byte(text)}); err != nil {
			return err
		}
	}
	return result.failed
}

func (c *command) describe() string {
	return fmt.Sprintf("%d events/s to %d sites in requests of %d, %d dashboards, %d editors. A row is %s.\n",
		c.Rate, c.Sites, perRequest, c.Dashboards, c.Editors, c.Minute)
}

// place has what the workers use: a node, the admin address with its metrics, an organization, and its sites.
type place struct {
	*single.Node
	admin product.Client
	org   string
	sites []string
}

func (c *command) start(ctx context.Context, dir string) (*place, error) {
	admin, err := enginetest.FreeAddress()
	if err != nil {
		return nil, err
	}
	node, err := single.Start(ctx, c.Binary, dir, "OCTAVO_ADMIN_LISTEN="+admin,
		// The whole load comes from one address, with one token.
		"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0")
	if err != nil {
		return nil, err
	}
	p := &place{Node: node, admin: product.Client{Address: admin}}
	if p.org, err = p.Client.Create(ctx, "/v1/orgs", "Soak"); err != nil {
		return p, err
	}
	for range c.Sites {
		site, err := p.Client.Create(ctx, p.path("sites"), "Soak")
		if err != nil {
			return p, err
		}
		p.sites = append(p.sites, site)
	}
	return p, nil
}

// path returns the path of a list of the organization, such as its sites.
func (p *place) path(list string) string { return "/v1/orgs/" + url.PathEscape(p.org) + "/" + list }

// soak runs the workers for all minutes, and then checks the stored events. If an error ends the run early, the result
// has the minutes that were measured before the error.
func (c *command) soak(ctx context.Context, dir string) (result, error) {
	p, err := c.start(ctx, dir)
	if p == nil {
		return result{}, err
	}
	if err != nil {
		return result{}, errors.Join(err, p.Stop())
	}
	r, err := c.work(ctx, p)
	if err == nil {
		err = p.counted(ctx, r.sent.Load())
	}
	if said := p.complaints(); said != "" {
		err = errors.Join(err, errors.New(said))
	}
	return result{minutes: r.minutes}, errors.Join(err, p.Stop())
}

// work runs the workers. Each worker ends when the last minute is over. The first error ends all workers.
func (c *command) work(ctx context.Context, p *place) (*recorder, error) {
	r := &recorder{times: map[string][]time.Duration{}, every: c.Minute}
	span := time.Duration(c.Minutes) * c.Minute
	spaces := make([]*space, c.Editors)
	for i := range spaces {
		var err error
		if spaces[i], err = p.newSpace(ctx, i); err != nil {
			return r, err
		}
	}
	began := time.Now()
	ends, stop := context.WithDeadline(ctx, began.Add(span))
	defer stop()
	group, working := errgroup.WithContext(ends)
	for i, site := range p.sites {
		group.Go(func() error {
			return p.send(working, r, site, sending{seed: uint64(i), rate: c.Rate / c.Sites, span: span})
		})
	}
	for i := range c.Dashboards {
		group.Go(func() error { return p.watch(working, r, p.sites[i%len(p.sites)], span/6) })
	}
	for _, s := range spaces {
		group.Go(func() error { return p.edit(working, r, s) })
	}
	group.Go(func() error { return r.sample(working, p, began) })
	if err := errors.Join(group.Wait(), ctx.Err()); err != nil {
		return r, err
	}
	if len(r.minutes) < c.Minutes {
		// The last row has the requests that ended after the last minute, too.
		return r, r.record(ctx, p)
	}
	return r, nil
}

// complaints returns the lines of the node's log with the level WARN or ERROR.
func (p *place) complaints() string {
	text, err := os.ReadFile(p.Log.Name())
	if err != nil {
		return err.Error()
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) ||
			strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("the node's log has %d lines of WARN or ERROR, first: %s", len(list), list[0])
}
