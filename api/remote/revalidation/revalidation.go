// Package revalidation tells the front ends of sites that data has changed, so that they read the changed data again.
// The only other package of this module that it imports is outbound.
package revalidation

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// limits bound one call. They are short, because a front end only marks its cached data as stale and then answers.
var limits = outbound.Limits{TLS: 10 * time.Second, Headers: 20 * time.Second, Whole: 30 * time.Second, WireBytes: 64 << 10, Bytes: 64 << 10}

// maxTags is the largest number of tags in one call.
const maxTags = 200

// path is the path that receives these calls, relative to the address of a front end.
const path = "/~gitbook/revalidate"

// signatureHeader is the header with the HMAC-SHA256 of the body in hexadecimal.
const signatureHeader = "X-Gitbook-Signature"

// Config has the front ends and their secret. All members except Secret are required.
type Config struct {
	Guard *outbound.Guard
	// FrontEnds has the addresses of front ends. ParseFrontEnds returns them.
	FrontEnds []*url.URL
	// Secret is the secret that Octavo shares with the front ends. If it is empty, calls are not signed.
	Secret string
}

// Client calls front ends. It may be used by many goroutines concurrently.
type Client struct {
	frontEnds []*url.URL
	secret    []byte
	do        func(*http.Request) (*http.Response, error)
}

// New returns a Client. It opens no connection.
func New(cfg Config) *Client {
	return &Client{frontEnds: cfg.FrontEnds, secret: []byte(cfg.Secret), do: cfg.Guard.Client(limits).Do}
}

// ParseFrontEnds reads the addresses of front ends. Its error names the invalid address.
func ParseFrontEnds(addresses []string) ([]*url.URL, error) {
	var parsed []*url.URL
	for _, address := range addresses {
		if address = strings.TrimSpace(address); address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is not an address such as https://docs.example.com", address)
		}
		parsed = append(parsed, u)
	}
	return parsed, nil
}

// Revalidate tells every front end that the data with these tags has changed. If a call to one front end fails, all
// other front ends are still called. The error is a text for users.
func (c *Client) Revalidate(ctx context.Context, tags []string) error {
	for len(tags) > 0 {
		n := min(len(tags), maxTags)
		body, err := json.Marshal(struct {
			Tags []string `json:"tags"`
		}{tags[:n]})
		if err != nil {
			return err
		}
		tags = tags[n:]
		var failed []string
		for _, frontEnd := range c.frontEnds {
			if err := c.tell(ctx, frontEnd, body); err != nil {
				failed = append(failed, err.Error())
			}
		}
		if len(failed) > 0 {
			return errors.New(strings.Join(failed, "; "))
		}
	}
	return nil
}

func (c *Client) tell(ctx context.Context, frontEnd *url.URL, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, frontEnd.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if len(c.secret) > 0 {
		mac := hmac.New(sha256.New, c.secret)
		mac.Write(body)
		request.Header.Set(signatureHeader, hex.EncodeToString(mac.Sum(nil)))
	}
	response, err := c.do(request)
	if err != nil {
		return fmt.Errorf("front end %s: %w", frontEnd.Host, outbound.Explain(err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("front end %s answered %d", frontEnd.Host, response.StatusCode)
	}
	return nil
}
