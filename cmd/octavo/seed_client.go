package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// seedAttempts and seedLongestWait bound the retries of a batch: about two
	// minutes if the server never recovers.
	seedAttempts    = 8
	seedLongestWait = 30 * time.Second
	// seedGrace is the time for which requests in flight may continue after an interrupt.
	seedGrace = 10 * time.Second
)

// seedClient calls the public API.
type seedClient struct {
	base, token string
	run         string // prefix of this run's idempotency keys
	http        *http.Client
	// requests outlives the command's context by seedGrace, because canceling a request would leave its outcome
	// unknown.
	requests context.Context
	pause    func(ctx context.Context, d time.Duration) error
}

// newSeedClient makes a client. The caller calls `release` when done.
func newSeedClient(ctx context.Context, base, token string, connections int) (c *seedClient, release func()) {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { time.AfterFunc(seedGrace, cancel) })
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	c = &seedClient{
		base: base, token: token, run: rand.Text(), requests: requests, pause: seedPause,
		http: &http.Client{Transport: transport, Timeout: 2 * time.Minute},
	}
	return c, func() {
		unhook()
		cancel()
		transport.CloseIdleConnections()
	}
}

func seedPause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post sends a batch and retries while the server is busy or unreachable. The idempotency key makes a retry safe if the
// answer was lost.
func (c *seedClient) post(ctx context.Context, path string, number int, body []byte) error {
	key := c.run + "-" + strconv.Itoa(number)
	_, err := c.send(ctx, http.MethodPost, path, body, http.StatusNoContent, key)
	return err
}

func (c *seedClient) get(ctx context.Context, path string) error {
	_, err := c.send(ctx, http.MethodGet, path, nil, http.StatusOK, "")
	return err
}

// call posts a JSON object with the members and returns the answer.
func (c *seedClient) call(ctx context.Context, path string, members map[string]any) ([]byte, error) {
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, path, body, http.StatusOK, "")
}

// create posts a JSON object with the members, which creates a resource. It returns the id of the resource.
func (c *seedClient) create(ctx context.Context, path string, members map[string]any) (string, error) {
	body, err := json.Marshal(members)
	if err != nil {
		return "", err
	}
	answer, err := c.send(ctx, http.MethodPost, path, body, http.StatusCreated, "")
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return "", fmt.Errorf("POST %s answered without an id: %.200s", path, answer)
	}
	return made.ID, nil
}

// send makes a request, and retries it if the server is busy. Without an idempotency key it does not retry a write
// whose outcome is unknown.
func (c *seedClient) send(ctx context.Context, method, path string, body []byte, want int, key string) ([]byte, error) {
	var last error
	for attempt := range seedAttempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		status, after, answer, err := c.once(method, path, body, key)
		wait := min(250*time.Millisecond<<attempt, seedLongestWait)
		switch {
		case err != nil && key == "" && method != http.MethodGet:
			return nil, fmt.Errorf("%w (is the server running at %s?)", err, c.base)
		case err != nil:
			last = fmt.Errorf("%w (is the server running at %s?)", err, c.base)
			if attempt == 0 && method == http.MethodGet {
				// The first request of a run is a GET, so a wrong address fails immediately.
				return nil, last
			}
		case status == want:
			return answer, nil
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable,
			status == http.StatusConflict && key != "": // the previous attempt is still running
			last = answerError(method, path, status, answer)
			if after >= 0 {
				wait = min(after, seedLongestWait)
			}
		default:
			return nil, answerError(method, path, status, answer)
		}
		if attempt == seedAttempts-1 {
			break
		}
		if err := c.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("gave up after %d attempts: %w", seedAttempts, last)
}

// once sends one request. `after` is the value of Retry-After, or -1.
func (c *seedClient) once(method, path string, body []byte, key string) (status int, after time.Duration, answer []byte, err error) {
	request, err := http.NewRequestWithContext(c.requests, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, -1, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, -1, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	// Read to the end, so that the connection can be reused.
	answer, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, -1, nil, fmt.Errorf("cannot read the answer of %s %s: %w", method, path, err)
	}
	return response.StatusCode, retryAfter(response.Header.Get("Retry-After")), answer, nil
}

// retryAfter reads the header Retry-After, which is a number of seconds or a date. It returns -1 if the header is
// absent or malformed.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(seedLongestWait/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return -1
}

// answerError makes an error from the server's answer.
func answerError(method, path string, status int, answer []byte) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	said := string(answer)
	if json.Unmarshal(answer, &body) == nil && body.Error.Message != "" {
		said = body.Error.Message
	}
	err := fmt.Errorf("%s %s answered %d: %.300s", method, path, status, said)
	if status == http.StatusRequestEntityTooLarge {
		err = errors.Join(err, errors.New("try a smaller --batch"))
	}
	return err
}
