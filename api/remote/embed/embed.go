// Package embed reads the titles of web pages, for links that are shown with a title. It never passes on a page's HTML.
// If a page cannot be read, its title is the name of the host.
//
// The only other package of this module that it imports is outbound.
package embed

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/net/html/charset"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// These constants bound the look-up of a page. The time is short, because readers wait for the look-up. Only the
// beginning of a page is read, because it contains the head.
const (
	wholeTime    = 5 * time.Second
	maxRedirects = 3
	maxHead      = 512 << 10
	maxBody      = 64 << 20
)

// entries is the largest number of cached pages. Readable pages are cached for lifeGood, and unreadable pages for a
// shorter time.
const (
	entries   = 4096
	lifeGood  = time.Hour
	lifeBad   = time.Minute
	maxFlight = 16
)

// These constants bound the length of the texts that are cached.
const (
	maxTitle = 300
	maxSite  = 100
	maxIcon  = 2048
)

// Page has the title of a web page and the name of its site.
type Page struct {
	Title string
	Site  string
	// Icon is the address of the page's icon, or "".
	Icon string
}

// Client looks up pages. It may be used by many goroutines concurrently.
type Client struct {
	http interface {
		Do(*http.Request) (*http.Response, error)
	}
	pages  *lru.Cache[string, remembered]
	flight singleflight.Group
	// places limits the number of concurrent look-ups, because anonymous readers may name slow addresses.
	places *semaphore.Weighted
}

type remembered struct {
	page  Page
	until time.Time
}

// New returns a Client. It opens no connection.
func New(guard *outbound.Guard) *Client {
	pages, _ := lru.New[string, remembered](entries) // New of package lru fails only if the size is 0
	return &Client{
		http: guard.Client(outbound.Limits{
			TLS: wholeTime, Headers: wholeTime, Whole: wholeTime, Redirects: maxRedirects, WireBytes: maxBody, Bytes: maxBody,
		}),
		pages: pages, places: semaphore.NewWeighted(maxFlight),
	}
}

// Find looks up the page at an absolute http or https address.
func (c *Client) Find(ctx context.Context, address *url.URL) Page {
	at := *address
	at.Fragment, at.RawFragment = "", ""
	key := at.String()
	if known, ok := c.pages.Get(key); ok && time.Now().Before(known.until) {
		return known.page
	}
	found, _, _ := c.flight.Do(key, func() (any, error) { // the function returns no error
		host := byHost(&at)
		if !c.places.TryAcquire(1) {
			return host, nil
		}
		defer c.places.Release(1)
		// Other callers may wait for this look-up. So it continues if the first caller disconnects.
		page, ok := c.look(context.WithoutCancel(ctx), &at)
		life := lifeGood
		if !ok {
			page, life = host, lifeBad
		}
		c.pages.Add(key, remembered{page: page, until: time.Now().Add(life)})
		return page, nil
	})
	page, _ := found.(Page)
	return page
}

// byHost returns a page whose title is the name of the host.
func byHost(at *url.URL) Page {
	host := shorten(strings.TrimPrefix(at.Hostname(), "www."), maxSite)
	return Page{Title: host, Site: host}
}

// look reads the head of a page. It ignores errors, because readers of a link cannot do anything about them.
func (c *Client) look(ctx context.Context, at *url.URL) (Page, bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return Page{}, false
	}
	request.Header.Set("Accept", "text/html,application/xhtml+xml")
	request.Header.Set("User-Agent", "octavo")
	response, err := c.http.Do(request)
	if err != nil {
		return Page{}, false
	}
	defer func() { _ = response.Body.Close() }() // an error of Close does not change the bytes that were read
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode != http.StatusOK || media != "text/html" && media != "application/xhtml+xml" {
		return Page{}, false
	}
	body, err := charset.NewReader(io.LimitReader(response.Body, maxHead), response.Header.Get("Content-Type"))
	if err != nil {
		return Page{}, false
	}
	page, known := readHead(body).page(response.Request.URL), byHost(at)
	if page.Title == "" {
		page.Title = known.Title
	}
	if page.Site == "" {
		page.Site = known.Site
	}
	return page, true
}
