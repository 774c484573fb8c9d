package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// DefaultTimeout bounds a delivery. Receivers should answer first and work later.
const DefaultTimeout = 15 * time.Second

const (
	// keptResponse bounds the bytes of an answer's body that are stored.
	keptResponse = 1 << 10
	// readResponse bounds the bytes that are read. A fully read answer lets the connection be reused.
	readResponse = 16 << 10
	// LongestRetryAfter is the longest pause that a receiver can request.
	LongestRetryAfter = 24 * time.Hour
)

// Config has the settings of deliveries. Guard is required.
type Config struct {
	Guard *outbound.Guard
	// Timeout bounds a whole delivery; 0 means DefaultTimeout.
	Timeout time.Duration
	Metrics *Metrics
}

// Client delivers messages. It is safe for concurrent use.
type Client struct {
	do      func(*http.Request) (*http.Response, error)
	timeout time.Duration
	metrics *Metrics
}

// New builds a Client. It opens no connection.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	client := cfg.Guard.Client(outbound.Limits{
		TLS: cfg.Timeout, Headers: cfg.Timeout, Whole: cfg.Timeout,
		// A long answer is not a failure; the client does not read the rest.
		WireBytes: math.MaxInt64 - 1, Bytes: math.MaxInt64 - 1,
	})
	return &Client{do: client.Do, timeout: cfg.Timeout, metrics: cfg.Metrics}
}

// Message is a message to send.
type Message struct {
	// ID is equal in all attempts.
	ID  string
	URL string
	// Keys are the secrets to sign with.
	Keys [][]byte
	// Body is JSON.
	Body []byte
}

// Result is the outcome of sending a message.
type Result struct {
	At   time.Time
	Took time.Duration
	// StatusCode is nil if there was no answer.
	StatusCode *int
	// Response is the start of the answer's body.
	Response string
	// Reason is a text for users about why the message was not accepted; "" if it was accepted.
	Reason string
	// RetryAfter is the receiver's requested pause.
	RetryAfter time.Duration
	// Gone means that the receiver wants no further messages.
	Gone bool
}

// Send sends a message once. The receiver has accepted it if it sends a complete answer with a status from 200 to 299.
// A truncated answer may come from a crash.
func (c *Client) Send(ctx context.Context, m Message) Result {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r := Result{At: time.Now()}
	err := c.send(ctx, m, &r)
	r.Took = time.Since(r.At)
	if err != nil {
		r.Reason = err.Error()
	}
	c.metrics.sent(&r)
	return r
}

func (c *Client) send(ctx context.Context, m Message, r *Result) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return errors.New("the URL cannot be read")
	}
	timestamp, signature := sign(m.Keys, m.ID, r.At, m.Body)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "octavo")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set(headerID, m.ID)
	request.Header.Set(headerTimestamp, timestamp)
	request.Header.Set(headerSignature, signature)
	response, err := c.do(request)
	if response != nil { // A redirect's error comes with a response, whose body is closed.
		r.StatusCode = &response.StatusCode
	}
	if err != nil {
		return outbound.Explain(err)
	}
	defer func() { _ = response.Body.Close() }()
	r.Gone = response.StatusCode == http.StatusGone
	r.RetryAfter = outbound.RetryAfter(response.Header, r.At, LongestRetryAfter)
	body, err := io.ReadAll(io.LimitReader(response.Body, readResponse))
	r.Response = text(body)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s answered %d", request.URL.Host, response.StatusCode)
	}
	if err != nil {
		return outbound.Explain(err)
	}
	return nil
}

// text returns the start of a body, without bytes that Postgres cannot store.
func text(body []byte) string {
	body = body[:min(len(body), keptResponse)]
	return strings.ReplaceAll(strings.ToValidUTF8(string(body), ""), "\x00", "")
}
