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

// DefaultTimeout is the default time limit of a delivery. Receivers should answer first and process the event
// afterwards.
const DefaultTimeout = 15 * time.Second

const (
	// keptResponse is the largest number of bytes of an answer's body that are stored.
	keptResponse = 1 << 10
	// readResponse is the largest number of bytes of an answer's body that are read. If an answer is read to its end,
	// the connection can be used again.
	readResponse = 16 << 10
	// LongestRetryAfter is the longest pause that a receiver can request.
	LongestRetryAfter = 24 * time.Hour
)

// Config has the settings of deliveries. Guard must be set.
type Config struct {
	Guard *outbound.Guard
	// Timeout bounds the time of a delivery. If it is 0, DefaultTimeout applies.
	Timeout time.Duration
	Metrics *Metrics
}

// Client delivers messages. It may be used by many goroutines concurrently.
type Client struct {
	do      func(*http.Request) (*http.Response, error)
	timeout time.Duration
	metrics *Metrics
}

// New returns a Client. It opens no connection.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	client := cfg.Guard.Client(outbound.Limits{
		TLS: cfg.Timeout, Headers: cfg.Timeout, Whole: cfg.Timeout,
		// A long answer is not a failure. The client does not read all of it.
		WireBytes: math.MaxInt64 - 1, Bytes: math.MaxInt64 - 1,
	})
	return &Client{do: client.Do, timeout: cfg.Timeout, metrics: cfg.Metrics}
}

// Message is a message that a Client sends.
type Message struct {
	// ID is the same in all attempts.
	ID  string
	URL string
	// Keys are the secrets with which the message is signed.
	Keys [][]byte
	// Body is the body of the message, as JSON.
	Body []byte
}

// Result is the outcome of sending a message.
type Result struct {
	At   time.Time
	Took time.Duration
	// StatusCode is the status of the answer. It is nil if there was no answer.
	StatusCode *int
	// Response is the beginning of the answer's body.
	Response string
	// Reason says why the receiver did not accept the message. It is a text for users. It is "" if the receiver
	// accepted the message.
	Reason string
	// RetryAfter is the pause that the receiver has requested.
	RetryAfter time.Duration
	// Gone is true if the receiver wants no further messages.
	Gone bool
}

// Send sends a message once. The receiver has accepted the message if its answer is complete and has a status from 200
// to 299. If an answer is incomplete, the receiver may have crashed.
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
	if response != nil { // for a refused redirect, the client returns an error and a response whose body is closed
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

// text returns the beginning of a body. It removes bytes that Postgres cannot store.
func text(body []byte) string {
	body = body[:min(len(body), keptResponse)]
	return strings.ReplaceAll(strings.ToValidUTF8(string(body), ""), "\x00", "")
}
