// Command screenshots takes the pictures in deploy/screenshots. It uses a node with embedded engines, generated events
// of two months, and Chromium.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/bench/witness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	folder := flag.String("folder", "deploy/screenshots", "where the pictures go")
	events := flag.Int("events", 400_000, "how many events the site has, in 61 days")
	flag.Parse()
	if err := run(ctx, *folder, *events); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder string, events int) (err error) {
	dir, err := os.MkdirTemp("", "octavo-screenshots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	node, err := single.Start(ctx, "", dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop()) }()
	org, site, err := fill(ctx, node, events)
	if err != nil {
		return err
	}
	b, err := newBrowser(ctx, "http://"+node.Client.Address, node.Client.Token)
	if err != nil {
		return err
	}
	defer b.close()
	for _, p := range pictures {
		at := p.path
		if p.view != "" {
			at = "/?" + url.Values{"org": {org}, "site": {site}, "zone": {"UTC"}}.Encode() + "&" + p.view
		}
		content, err := b.picture(at, p)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, p.name+".webp"), content, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// picture describes a screenshot. If `view` is set, the page is a view of the site. Otherwise it is the page at `path`.
type picture struct {
	name, view, path string
	// follow is a CSS selector of a link on the page. If it is set, the screenshot shows the page to which the link
	// leads.
	follow string
	dark   bool
	width  int64
}

const wide, phone = 1280, 390

var pictures = []picture{
	{name: "sites", path: "/?zone=UTC", width: wide},
	{name: "overview", view: "range=last30Days", width: wide},
	{name: "overview-phone", view: "range=last30Days", width: phone, dark: true},
	{name: "pages", view: "view=pages&range=last30Days", width: wide},
	{name: "page", view: "view=pages&range=last30Days", follow: "tbody a", width: wide},
	{name: "search", view: "view=search&range=last30Days", width: wide, dark: true},
	{name: "agents", view: "view=agents&range=last30Days", width: wide},
	{name: "audience", view: "view=audience&range=last30Days", width: wide},
	{name: "broken", view: "view=broken&range=last30Days", width: wide},
	{name: "feedback", view: "view=feedback&range=last30Days", width: wide, dark: true},
	{name: "links", view: "view=links&range=last30Days", width: wide},
	{name: "openapi", view: "view=openapi&range=last30Days", width: wide},
	{name: "journeys", view: "view=journeys&range=last30Days", width: wide},
	{name: "live", view: "view=live", width: wide, dark: true},
	{name: "explore", view: "view=explore&range=last30Days&by=agentClass&who=all&step=day", width: wide},
	{name: "health", view: "view=health", width: wide},
	{name: "settings", view: "view=settings", width: wide},
	{name: "docs", path: "/docs", width: wide},
}

var madeSite = regexp.MustCompile(`to site (\S+) of organization (\S+) in`)

// fill creates a site with events and annotations, and waits until all events are stored.
func fill(ctx context.Context, node *single.Node, events int) (org, site string, err error) {
	settings := []string{"OCTAVO_URL=http://" + node.Client.Address, "OCTAVO_TOKEN=" + node.Client.Token}
	// The views show thirty days and compare them with the thirty days before, so the events are of 61 days.
	said, err := node.Run(ctx, settings, "seed", "--days", "61", "--events", strconv.Itoa(events))
	if err != nil {
		return "", "", err
	}
	found := madeSite.FindStringSubmatch(said)
	if found == nil {
		return "", "", fmt.Errorf("octavo seed names no site: %s", said)
	}
	site, org = found[1], found[2]
	base, now := product.Insights(org, site), time.Now().UTC()
	for days, text := range map[int]string{20: "Version 2.0", 6: "New pricing page"} {
		date, _, _ := strings.Cut(day(now, -days), "T")
		note := map[string]any{"date": date, "text": text}
		err := node.Client.Call(ctx, http.MethodPost, base+"/annotations", note, http.StatusCreated, nil)
		if err != nil {
			return "", "", err
		}
	}
	all := map[string]any{
		"range":  map[string]string{"from": day(now, -65), "to": day(now, 1)},
		"select": []map[string]string{{"column": "eventsCount"}},
	}
	return org, site, witness.Await(ctx, func(ctx context.Context) error {
		var answer struct{ Columns []struct{ Values []int } }
		err := node.Client.Call(ctx, http.MethodPost, base+"/events/aggregate", all, http.StatusOK, &answer)
		if err == nil && answer.Columns[0].Values[0] < events {
			err = fmt.Errorf("%d of %d events are stored", answer.Columns[0].Values[0], events)
		}
		return err
	})
}

func day(now time.Time, days int) string {
	return now.Add(time.Duration(days) * 24 * time.Hour).Format(time.RFC3339)
}
