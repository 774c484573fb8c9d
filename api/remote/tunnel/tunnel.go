// Package tunnel sends events of integrations in development mode to the developers' machines. The events have the form
// that GitBook's published runtime for integrations reads. The only other package of this module that it imports is
// outbound.
package tunnel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// limits bound one call. An integration answers when it has handled the event.
var limits = outbound.Limits{
	TLS: 10 * time.Second, Headers: 20 * time.Second, Whole: 30 * time.Second,
	// A long answer is not a failure. The client does not read all of it.
	WireBytes: math.MaxInt64 - 1, Bytes: math.MaxInt64 - 1,
}

// readAnswer is the largest number of bytes of an answer that are read. If an answer is read to its end, the connection
// can be used again.
const readAnswer = 64 << 10

// path is the path for calls of the runtime's first version. If the address of a tunnel has a path, this path is called
// instead.
const path = "/v1"

// Client calls tunnels. It may be used by many goroutines concurrently.
type Client struct {
	do func(*http.Request) (*http.Response, error)
}

// New returns a Client. It opens no connection.
func New(guard *outbound.Guard) *Client { return &Client{do: guard.Client(limits).Do} }

// Send posts an event with its environment. The event and the environment are JSON. It returns the status of the
// answer. An error is a text for users.
func (c *Client) Send(ctx context.Context, address string, event, environment []byte) (status int, err error) {
	target, err := url.Parse(address)
	if err != nil {
		return 0, errors.New("the tunnel's address is not valid")
	}
	if target.Path == "" || target.Path == "/" {
		target.Path = path
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, part := range []struct {
		name  string
		value []byte
	}{{"event", event}, {"environment", environment}} {
		if err := form.WriteField(part.name, string(part.value)); err != nil {
			return 0, err
		}
	}
	if err := form.Close(); err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), &body)
	if err != nil {
		return 0, errors.New("the tunnel's address is not valid")
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := c.do(request)
	if err != nil {
		return 0, fmt.Errorf("the tunnel: %w", outbound.Explain(err))
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, readAnswer)); err != nil {
		return 0, fmt.Errorf("the tunnel: %w", outbound.Explain(err))
	}
	return response.StatusCode, nil
}
