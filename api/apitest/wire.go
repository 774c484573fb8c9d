package apitest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// Wire is a connection on which a test writes raw bytes.
type Wire struct {
	T testing.TB
	net.Conn
	Answers *bufio.Reader
}

func (h *Harness) Wire() *Wire {
	h.T.Helper()
	conn, err := (&net.Dialer{}).DialContext(h.T.Context(), "tcp", strings.TrimPrefix(h.Base, "http://"))
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(eventually.Patience))
	return &Wire{T: h.T, Conn: conn, Answers: bufio.NewReader(conn)}
}

func (w *Wire) Send(text string) {
	w.T.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.T.Fatal(err)
	}
}

// Answer reads the next response from the connection.
func (w *Wire) Answer() Answer {
	w.T.Helper()
	response, err := http.ReadResponse(w.Answers, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, body}
}

// WantClosed checks that the server closes the connection and sends no further response.
func (w *Wire) WantClosed() {
	w.T.Helper()
	if rest, err := io.ReadAll(w.Answers); err != nil && !strings.Contains(err.Error(), "reset") || len(rest) > 0 {
		w.T.Errorf("the connection goes on: %q %v", rest, err)
	}
}

func (h *Harness) EventsPath() string {
	return "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
}

// Post returns the head of an event request with extra header lines. An empty token adds no Authorization header.
func (h *Harness) Post(token string, lines ...string) string {
	if token != "" {
		lines = append(lines, "Authorization: Bearer "+token)
	}
	return "POST " + h.EventsPath() + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines, "", ""), "\r\n")
}
