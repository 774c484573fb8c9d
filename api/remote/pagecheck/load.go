package pagecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// These constants bound a check. The caller waits for the result, so a check must be short.
const (
	// whole bounds the time of a request. Total bounds the time of a check.
	whole        = 5 * time.Second
	Total        = 15 * time.Second
	maxRedirects = 5
	maxPage      = 2 << 20
	maxScript    = 512 << 10
	maxWire      = 16 << 20
	// OwnScripts is the largest number of scripts from the page's own host that are read.
	OwnScripts = 8
)

// Client loads pages. It may be used by many goroutines concurrently.
type Client struct {
	http interface {
		Do(*http.Request) (*http.Response, error)
	}
}

// New returns a Client. It opens no connection.
func New(guard *outbound.Guard) *Client {
	return &Client{http: guard.Client(outbound.Limits{
		TLS: whole, Headers: whole, Whole: whole, Redirects: maxRedirects, WireBytes: maxWire, Bytes: maxWire,
	})}
}

// Load loads a page. The texts of its errors are for users.
func (c *Client) Load(ctx context.Context, address string) (*Page, error) {
	const accept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"
	response, err := c.send(ctx, http.MethodGet, address, accept, "", http.NoBody)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // an error of Close does not change the bytes that were read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the page answers with the status %d", response.StatusCode)
	}
	kind := response.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	if err != nil || media != "text/html" && media != "application/xhtml+xml" {
		return nil, errors.New("the page is no HTML")
	}
	body, err := charset.NewReader(response.Body, kind)
	if err != nil {
		return nil, outbound.Explain(err)
	}
	text, err := readText(body, maxPage)
	if err != nil {
		return nil, outbound.Explain(err)
	}
	page := readPage(response.Request.URL, text)
	for _, value := range response.Header.Values("Content-Security-Policy") {
		page.header = append(page.header, parsePolicies(value, "header")...)
	}
	return page, nil
}

// Script loads the text of a script.
func (c *Client) Script(ctx context.Context, address *url.URL) (string, error) {
	response, err := c.send(ctx, http.MethodGet, address.String(), "*/*", "", http.NoBody)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // an error of Close does not change the bytes that were read
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers with the status %d", address.Host, response.StatusCode)
	}
	text, err := readText(response.Body, maxScript)
	if err != nil {
		return "", outbound.Explain(err)
	}
	return text, nil
}

// Post sends a body in the way in which a script of the page does, and returns the status. `readable` is true if the
// page may read the answer.
func (c *Client) Post(ctx context.Context, page, to *url.URL, body string) (status int, readable bool, err error) {
	origin := page.Scheme + "://" + page.Host
	response, err := c.send(ctx, http.MethodPost, to.String(), "*/*", origin, strings.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = response.Body.Close() }() // only the status is needed
	allowed := response.Header.Get("Access-Control-Allow-Origin")
	same := outbound.SameOrigin(page, to)
	return response.StatusCode, same || allowed == "*" || strings.EqualFold(allowed, origin), nil
}

// send sends a request. If a script of a page sends the request, `origin` is the origin of this page.
func (c *Client) send(
	ctx context.Context, method, address, accept, origin string, body io.Reader,
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Octavo installation check)")
	if origin != "" {
		request.Header.Set("Content-Type", "text/plain;charset=UTF-8")
		request.Header.Set("Origin", origin)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, outbound.Explain(err)
	}
	return response, nil
}
