package chat_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/chat"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/provider"
)

var hello = chat.Request{Messages: []chat.Message{{Role: chat.System, Content: "Answer in JSON."}, {Role: chat.User, Content: "Hello"}}}

func TestAsk(t *testing.T) {
	t.Parallel()
	server := chattest.New(t, func(r chattest.Request) chattest.Answer {
		return chattest.Answer{Text: "You said " + r.Messages[1].Content}
	})
	text, err := server.Client(t).Ask(t.Context(), chat.Request{Messages: hello.Messages, MaxTokens: 7})
	if err != nil || text != "You said Hello" {
		t.Fatalf("%q, %v", text, err)
	}
	asked := server.Requests()[0]
	if asked.MaxTokens != 7 || asked.Temperature == nil || *asked.Temperature != 0 || asked.ResponseFormat != nil {
		t.Errorf("asked %+v", asked)
	}
}

func TestAskJSON(t *testing.T) {
	t.Parallel()
	type answer struct {
		N int `json:"n"`
	}
	for name, test := range map[string]struct {
		text string
		fits bool
	}{
		"plain":         {`{"n":3}`, true},
		"fenced":        {"```json\n{\"n\":3}\n```", true},
		"more members":  {`{"n":3,"why":"because"}`, true},
		"prose":         {"The number is 3.", false},
		"cut":           {`{"n":`, false},
		"another type":  {`{"n":"three"}`, false},
		"two values":    {`{"n":3} {"n":4}`, false},
		"wrong":         {`{"n":4}`, false},
		"twice a name":  {`{"n":3,"n":3}`, false},
		"only a fence":  {"```", false},
		"an empty text": {" ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.New(t, func(chattest.Request) chattest.Answer { return chattest.Answer{Text: test.text} })
			var got answer
			err := server.Client(t).AskJSON(t.Context(), hello, &got, func() error {
				if got.N != 3 {
					return errors.New("not 3")
				}
				return nil
			})
			if test.fits && (err != nil || got.N != 3) {
				t.Errorf("%+v, %v", got, err)
			}
			if e, ok := errors.AsType[*provider.Error](err); !test.fits && (!ok || e.Reason != provider.Malformed || !e.Retryable()) {
				t.Errorf("error %v", err)
			}
			if format := server.Requests()[0].ResponseFormat; format == nil || format.Type != "json_object" {
				t.Errorf("response format %+v", format)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer chattest.Answer
		reason *provider.Reason
		pause  time.Duration
	}{
		"bad request":      {chattest.Answer{Status: http.StatusBadRequest}, provider.Rejected, 0},
		"key":              {chattest.Answer{Status: http.StatusUnauthorized, RetryAfter: "5"}, provider.Unauthorized, 0},
		"forbidden":        {chattest.Answer{Status: http.StatusForbidden}, provider.Unauthorized, 0},
		"credit":           {chattest.Answer{Status: http.StatusPaymentRequired}, provider.Exhausted, 0},
		"quota":            {chattest.Answer{Status: http.StatusTooManyRequests, Code: "insufficient_quota"}, provider.Exhausted, 0},
		"limit":            {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "7"}, provider.Limited, 7 * time.Second},
		"limit for a year": {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "31536000"}, provider.Limited, time.Hour},
		"limit, no number": {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "soon"}, provider.Limited, 0},
		"limit, negative":  {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "-1"}, provider.Limited, 0},
		"limit, NaN":       {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "NaN"}, provider.Limited, 0},
		"failure":          {chattest.Answer{Status: http.StatusInternalServerError}, provider.Unavailable, 0},
		"gateway":          {chattest.Answer{Status: http.StatusBadGateway, Raw: "<html>"}, provider.Unavailable, 0},
		"busy":             {chattest.Answer{Status: http.StatusServiceUnavailable, RetryAfter: "2"}, provider.Unavailable, 2 * time.Second},
		"redirect":         {chattest.Answer{Status: http.StatusTemporaryRedirect}, provider.Rejected, 0},
		"half an answer":   {chattest.Answer{Text: strings.Repeat("word ", 10_000), Half: true}, provider.Interrupted, 0},
		"no JSON":          {chattest.Answer{Raw: "<html>"}, provider.Malformed, 0},
		"half the JSON":    {chattest.Answer{Raw: `{"choices":[{"mess`}, provider.Malformed, 0},
		"no choice":        {chattest.Answer{Raw: `{"choices":[]}`}, provider.Malformed, 0},
		"no content":       {chattest.Answer{Raw: `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`}, provider.Malformed, 0},
		"too large":        {chattest.Answer{Text: strings.Repeat("x", 9<<20)}, provider.Malformed, 0},
		"filtered":         {chattest.Answer{Text: "I can", FinishReason: "content_filter"}, provider.Refused, 0},
		"refusal":          {chattest.Answer{Raw: `{"choices":[{"message":{"content":"","refusal":"No."},"finish_reason":"stop"}]}`}, provider.Refused, 0},
		"length":           {chattest.Answer{Text: "I can", FinishReason: "length"}, provider.Cut, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := test.answer
			if answer.Status != 0 {
				answer.Text = "no use of " + chattest.Key
			}
			server := chattest.New(t, func(chattest.Request) chattest.Answer { return answer })
			text, err := server.Client(t).Ask(t.Context(), hello)
			e, ok := errors.AsType[*provider.Error](err)
			if !ok || text != "" || e.Reason != test.reason || e.RetryAfter != test.pause {
				t.Fatalf("%q, %v, pause %s", text, err, e.RetryAfter)
			}
			for shown := err; shown != nil; shown = errors.Unwrap(shown) {
				if strings.Contains(shown.Error(), chattest.Key) {
					t.Errorf("the key is in %q", shown)
				}
			}
		})
	}
}

// TestKeyIsNotLogged checks that no part of the key is in a log, wherever an answer contains the key.
func TestKeyIsNotLogged(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	before := 0
	server := chattest.New(t, func(chattest.Request) chattest.Answer {
		mu.Lock()
		defer mu.Unlock()
		return chattest.Answer{Status: http.StatusBadRequest, Text: strings.Repeat("x", before) + chattest.Key}
	})
	for range 520 {
		_, err := server.Client(t).Ask(t.Context(), hello)
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || e.Reason != provider.Rejected {
			t.Fatal(err)
		}
		if said := errors.Unwrap(e).Error(); strings.Contains(said, chattest.Key[:4]) {
			t.Fatalf("%d bytes before the key: %s", before, said)
		}
		mu.Lock()
		before++
		mu.Unlock()
	}
}

func TestKeyAndModel(t *testing.T) {
	t.Parallel()
	server := chattest.New(t, func(chattest.Request) chattest.Answer { return chattest.Answer{Text: "Hello"} })
	for name, test := range map[string]struct {
		change func(*chat.Config)
		reason *provider.Reason
	}{
		"key":   {func(c *chat.Config) { c.Provider.Key = "another" }, provider.Unauthorized},
		"model": {func(c *chat.Config) { c.Model = "another" }, provider.Rejected},
	} {
		cfg := server.Config(t)
		test.change(&cfg)
		_, err := chat.New(cfg).Ask(t.Context(), hello)
		if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != test.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were taken", n)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	server := chattest.New(t, func(chattest.Request) chattest.Answer { return chattest.Answer{Hang: true} })
	cfg := server.Config(t)
	cfg.Provider.Timeout = 50 * time.Millisecond
	_, err := chat.New(cfg).Ask(t.Context(), hello)
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != provider.Interrupted || !e.Retryable() {
		t.Errorf("time-out: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = server.Client(t).Ask(canceled, hello)
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != provider.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestGuarded(t *testing.T) {
	t.Parallel()
	server := chattest.New(t, func(chattest.Request) chattest.Answer { return chattest.Answer{Text: "Hello"} })
	cfg := server.Config(t)
	cfg.Provider.Guard = outbound.New(outbound.Config{})
	_, err := chat.New(cfg).Ask(t.Context(), hello)
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != provider.Unreachable || len(server.Requests()) != 0 {
		t.Errorf("loopback was not refused: %v", err)
	}
}
