// Package webhookstest is a receiver of webhooks for tests. It checks signatures as the Standard Webhooks specification
// requires. It shares no code with package webhooks, so that it finds errors there. Only tests may import it.
package webhookstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// Received is a message that the receiver has received, with the receiver's answer.
type Received struct {
	ID        string
	Signature string
	Body      []byte
	// Type and Data are the type and the data of the payload.
	Type string
	Data map[string]any
	// Actor is the id of the payload's actor.
	Actor string
	// Location is the member data.urls.location of the payload.
	Location string
}

// Answer writes the answer to a message. `n` is the number of earlier messages. If Answer writes nothing, the status is
// 200.
type Answer func(n int, m Received, w http.ResponseWriter, r *http.Request)

// Status returns an Answer with this status.
func Status(code int) Answer {
	return func(_ int, _ Received, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Receiver is a server on loopback that receives messages.
type Receiver struct {
	*httptest.Server
	t      testing.TB
	mu     sync.Mutex
	secret string
	answer Answer
	all    []Received
}

// New starts a receiver that answers with the status 200. Until Knows sets a secret, it accepts every signature.
func New(t testing.TB) *Receiver {
	r := &Receiver{t: t, answer: Status(http.StatusOK)}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

// Knows sets the secret with which the receiver checks signatures. After this call, a message with a wrong signature
// fails the test, and is answered with the status 401.
func (r *Receiver) Knows(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// Answers replaces the function that answers messages.
func (r *Receiver) Answers(answer Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// Received returns all messages in the order of their arrival.
func (r *Receiver) Received() []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Types returns the types of all received messages.
func (r *Receiver) Types() []string {
	var types []string
	for _, m := range r.Received() {
		types = append(types, m.Type)
	}
	return types
}

func (r *Receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	var payload struct {
		ID, Type, Organization string
		CreatedAt              time.Time `json:"createdAt"`
		Actor                  struct{ ID string }
		Data                   map[string]any
	}
	m := Received{ID: request.Header.Get("webhook-id"), Signature: request.Header.Get("webhook-signature"), Body: body}
	if err := json.Unmarshal(body, &payload, json.MatchCaseInsensitiveNames(true)); err != nil || payload.ID != m.ID || payload.Organization == "" || payload.CreatedAt.IsZero() {
		r.t.Errorf("webhook-id %q: %s: %v", m.ID, body, err)
	}
	m.Type, m.Data, m.Actor = payload.Type, payload.Data, payload.Actor.ID
	if urls, ok := payload.Data["urls"].(map[string]any); ok {
		m.Location, _ = urls["location"].(string)
	}
	r.mu.Lock()
	n, answer, secret := len(r.all), r.answer, r.secret
	r.all = append(r.all, m)
	r.mu.Unlock()
	if request.Method != http.MethodPost || request.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s of %q", request.Method, request.Header.Get("Content-Type"))
	}
	if secret != "" {
		if err := Verify(secret, request.Header, body, time.Now()); err != nil {
			r.t.Error(err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	answer(n, m, w, request)
}

// Verify checks the signature of a message as a receiver does.
func Verify(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	id, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("webhook-timestamp: %w", err)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return fmt.Errorf("the message is %s old", age)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body) // Write of a hash never returns an error
	want := mac.Sum(nil)
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(signature, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return fmt.Errorf("no signature of %q is right", header.Get("webhook-signature"))
}
