// Package chattest is a server of chat completions for tests. It can fail in the ways in which real servers fail. Only
// tests may import it.
package chattest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/chat"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/provider"
)

// Key and Model are the key and the model that the client of a Server must send.
const (
	Key   = "key-of-the-tests"
	Model = "model-of-the-tests"
)

// Request is a request that a Server received.
type Request struct {
	Model          string         `json:"model"`
	Messages       []chat.Message `json:"messages"`
	MaxTokens      int            `json:"max_tokens"`
	Temperature    *float64       `json:"temperature"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// Answer is an answer of a Server. The zero Answer is an empty text with status 200.
type Answer struct {
	Text string
	// FinishReason is the reason why the text ends. If it is empty, the reason is "stop".
	FinishReason string
	// Status is the status of the answer. If it is set and is not 200, the body is an error document, and Text is its
	// message.
	Status int
	// Code is the code in the error document.
	Code string
	// RetryAfter is the value of the header Retry-After. If it is empty, the header is not sent.
	RetryAfter string
	// Raw is the exact body of the answer. If it is empty, the body is made from the other members.
	Raw string
	// Half is true if the connection breaks in the middle of the body.
	Half bool
	// Hang is true if the server does not answer until the client disconnects.
	Hang bool
}

// Server is a server that answers each request with the result of a function.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []Request
	answer   func(Request) Answer
}

// New starts a server that is closed when the test ends.
func New(t testing.TB, answer func(Request) Answer) *Server {
	t.Helper()
	s := &Server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Requests returns the requests that the server has received.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Config returns the configuration of a client of the server. The configuration allows the server's address, as a
// setting of an operator would.
func (s *Server) Config(t testing.TB) chat.Config {
	t.Helper()
	u, err := url.Parse(s.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return chat.Config{Model: Model, Provider: provider.Config{
		Guard: outboundtest.Guard(t, u.Hostname()), URL: u, Key: Key, Name: "the model",
	}}
}

// Client returns a client of the server.
func (s *Server) Client(t testing.TB) *chat.Client {
	t.Helper()
	return chat.New(s.Config(t))
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked Request
	switch {
	case err != nil:
		return
	case r.URL.Path != "/v1/"+chat.Path:
		fail(w, Answer{Status: http.StatusNotFound, Text: "no such path"})
		return
	case r.Method != http.MethodPost:
		fail(w, Answer{Status: http.StatusMethodNotAllowed, Text: "POST only"})
		return
	case r.Header.Get("Authorization") != "Bearer "+Key:
		fail(w, Answer{Status: http.StatusUnauthorized, Code: "invalid_api_key", Text: "Incorrect API key provided: " + r.Header.Get("Authorization")})
		return
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"), json.Unmarshal(body, &asked) != nil, len(asked.Messages) == 0:
		fail(w, Answer{Status: http.StatusBadRequest, Text: "not a request"})
		return
	case asked.Model != Model:
		fail(w, Answer{Status: http.StatusNotFound, Code: "model_not_found", Text: "no such model"})
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, asked)
	s.mu.Unlock()
	s.send(w, r, s.answer(asked))
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, a Answer) {
	if a.Hang {
		<-r.Context().Done()
		return
	}
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Status != 0 && a.Status != http.StatusOK {
		fail(w, a)
		return
	}
	if a.FinishReason == "" {
		a.FinishReason = "stop"
	}
	body := []byte(a.Raw)
	if a.Raw == "" {
		body, _ = json.Marshal(map[string]any{ // maps of strings and numbers can always be encoded
			"id": "chatcmpl-1", "object": "chat.completion", "model": Model,
			"choices": []any{map[string]any{
				"index": 0, "finish_reason": a.FinishReason, "message": map[string]any{"role": chat.Assistant, "content": a.Text},
			}},
			"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		})
	}
	w.Header().Set("Content-Type", "application/json")
	if a.Half {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

func fail(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": a.Text, "type": "invalid_request_error", "code": a.Code}})
	_, _ = w.Write(body)
}
