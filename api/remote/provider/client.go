package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Config has the settings of a provider. Key and Timeout are optional.
type Config struct {
	// Guard connects to the host of URL. The operator has named this host.
	Guard *outbound.Guard
	URL   *url.URL
	// Key is sent as a bearer token. If it is empty, no token is sent.
	Key string
	// Name is the name of the provider in errors for users, such as "the translator".
	Name string
	// Timeout bounds one call. If it is 0, DefaultTimeout applies.
	Timeout time.Duration
}

// DefaultTimeout is the default time limit of a call. Language models may need minutes before they send the first byte.
const DefaultTimeout = 5 * time.Minute

// These constants bound the size of an answer, and the part of an error's text that is logged.
const (
	maxAnswer    = 8 << 20
	maxErrorText = 500
	// longestRetryAfter is the longest pause that a provider can request.
	longestRetryAfter = time.Hour
)

// Client calls one provider. It may be used by many goroutines concurrently.
type Client struct {
	url  *url.URL
	key  string
	name string
	do   func(*http.Request) (*http.Response, error)
}

// New returns a Client. It opens no connection.
func New(cfg Config) *Client {
	timeout := cfg.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return &Client{url: cfg.URL, key: cfg.Key, name: cfg.Name, do: cfg.Guard.Client(outbound.Limits{
		TLS: min(timeout, 10*time.Second), Headers: timeout, Whole: timeout, WireBytes: maxAnswer, Bytes: maxAnswer,
	}).Do}
}

// Post sends a document to a path relative to the provider's address, and decodes the answer. Its errors are of type
// *Error. If the request cannot be encoded, the error has another type.
func (c *Client) Post(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, path, body, answer)
}

// Get requests the document at a path, and decodes it.
func (c *Client) Get(ctx context.Context, path string, answer any) error {
	return c.call(ctx, http.MethodGet, path, nil, answer)
}

func (c *Client) call(ctx context.Context, method, path string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.url.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return c.Fail(Unreachable, "%w", err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "octavo")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.do(request)
	if err != nil {
		return c.unreached(err)
	}
	defer func() { _ = response.Body.Close() }() // an error of Close does not change the bytes that were read
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return c.unreached(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return c.refused(response, read)
	}
	if err := json.Unmarshal(read, answer); err != nil {
		failed := c.Fail(Malformed, "%w", err)
		failed.Status = response.StatusCode
		return failed
	}
	return nil
}

// refused makes an Error from an answer that refuses the call.
func (c *Client) refused(response *http.Response, body []byte) *Error {
	e := &Error{Reason: Rejected, Provider: c.name, Status: response.StatusCode, cause: errors.New(c.said(body))}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Reason = Unauthorized
	case status == http.StatusPaymentRequired:
		e.Reason = Exhausted
	case status == http.StatusTooManyRequests:
		e.Reason = Limited
		if bytes.Contains(body, []byte(`"insufficient_quota"`)) {
			e.Reason = Exhausted
		}
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status >= 500:
		e.Reason = Unavailable
	}
	if e.Reason.Retryable {
		e.RetryAfter = outbound.RetryAfter(response.Header, time.Now(), longestRetryAfter)
	}
	return e
}

// said returns the text of the provider for logs. It removes the key, because some providers repeat the key.
func (c *Client) said(body []byte) string {
	text := string(body)
	if c.key != "" { // the key is replaced before the text is cut; a cut could leave the first half of the key
		text = strings.ReplaceAll(text, c.key, "…")
	}
	return fmt.Sprintf("it said %q", strings.ToValidUTF8(text[:min(len(text), maxErrorText)], ""))
}
