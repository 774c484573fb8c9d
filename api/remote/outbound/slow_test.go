package outbound

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// These tests run in bubbles of synctest. A sleep moves the clock of the bubble forward and takes no real time.

// drip is a body that returns a KB after each pause, until it has returned `left` bytes.
type drip struct {
	pause time.Duration
	left  int
}

func (d *drip) Read(data []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(d.pause)
	n := min(1000, d.left, len(data))
	d.left -= n
	return n, nil
}

func (*drip) Close() error { return nil }

// TestSlowTransfers sends requests that transfer fewer than 10 KB a second for 15 seconds, in either direction. It also
// sends faster requests. A request that has ended must not be reported.
func TestSlowTransfers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// request and answer are the two bodies. `headers` is the delay before the server sends the headers.
		request, answer *drip
		headers         time.Duration
		slow            bool
	}{
		"at once":                  {nil, &drip{0, 1 << 20}, 0, false},
		"short":                    {nil, &drip{time.Second, 14_000}, 0, false},
		"quick for a minute":       {nil, &drip{90 * time.Millisecond, 600_000}, 0, false},
		"a little too slow":        {nil, &drip{110 * time.Millisecond, 600_000}, 0, true},
		"a byte now and then":      {nil, &drip{4 * time.Second, 6000}, 0, true},
		"a server that waits":      {nil, &drip{0, 10}, 16 * time.Second, true},
		"a server that thinks":     {nil, &drip{0, 10}, 14 * time.Second, false},
		"a slow upload":            {&drip{4 * time.Second, 6000}, &drip{0, 10}, 0, true},
		"a quick upload":           {&drip{90 * time.Millisecond, 600_000}, &drip{0, 10}, 0, false},
		"slow after a quick start": {&drip{0, 1 << 20}, &drip{4 * time.Second, 10_000}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var found atomic.Int64
				ctx := WhenSlow(t.Context(), func() { found.Add(1) })
				watched := startPace(ctx)
				if tt.request != nil {
					if _, err := io.Copy(io.Discard, watched.watch(tt.request, false)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(tt.headers)
				body := watched.watch(tt.answer, true)
				if _, err := io.Copy(io.Discard, body); err != nil {
					t.Fatal(err)
				}
				if (found.Load() > 0) != tt.slow {
					t.Errorf("found %d times", found.Load())
				}
				before := found.Load()
				time.Sleep(time.Hour)
				if found.Load() != before {
					t.Error("a request that is over is called slow")
				}
				if err := body.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestClientsTellOfSlowTransfers checks that a client watches a request if its context is from WhenSlow.
func TestClientsTellOfSlowTransfers(t *testing.T) {
	t.Parallel()
	for _, thinks := range []time.Duration{14 * time.Second, 16 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			base := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() {
					if _, err := http.ReadRequest(bufio.NewReader(server)); err != nil {
						t.Error(err)
					}
					time.Sleep(thinks)
					const answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
					if _, err := io.WriteString(server, answer); err != nil {
						t.Error(err)
					}
				}()
				return client, nil
			}}
			client := &http.Client{Transport: &transport{base, testLimits}}
			var found atomic.Int64
			for _, ctx := range []context.Context{t.Context(), WhenSlow(t.Context(), func() { found.Add(1) })} {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://open.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(response.Body); string(text) != "text" || err != nil {
					t.Errorf("%q %v", text, err)
				}
				if err := response.Body.Close(); err != nil {
					t.Error(err)
				}
				base.CloseIdleConnections()
			}
			if want := int64(thinks / slowTime); found.Load() != want {
				t.Errorf("found %d times", found.Load())
			}
		})
	}
}

// TestNothingToWatch checks that an answer without a body ends the watch of its request. If the context of a request is
// not from WhenSlow, the request is not watched.
func TestNothingToWatch(t *testing.T) {
	t.Parallel()
	if watched := startPace(t.Context()); watched != nil || watched.watch(http.NoBody, true) != http.NoBody {
		t.Error("a request is watched for nobody")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := WhenSlow(t.Context(), func() { t.Error("a request that is over is called slow") })
		for _, body := range []io.ReadCloser{nil, http.NoBody, io.NopCloser(strings.NewReader("text"))} {
			if watched := startPace(ctx).watch(body, true); watched != nil {
				if err := watched.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		startPace(ctx).end()
		time.Sleep(time.Hour)
	})
}
