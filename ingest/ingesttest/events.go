package ingesttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Event returns a valid event as JSON. `extra` has further members of the event.
func Event(kind, extra string) string {
	if extra != "" {
		extra = "," + extra
	}
	return `{"type":"` + kind + `","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://d.example/p"}` + extra + `}`
}

// Events returns a request body with these events.
func Events(list ...string) string {
	return `{"events":[` + strings.Join(list, ",") + "]}"
}

// TypicalEvent returns an event of about 600 bytes, in the form in which the published client sends it.
func TypicalEvent(i int) string {
	return fmt.Sprintf(`{"type":"page_view","session":{"visitorId":"8a7f2c1e-55d0-4b7e-9c1a-%012d","sessionId":"c0ffee00-1234-4321-abcd-%012d",`+
		`"cookies":{},"ip":"203.0.113.7","userAgent":"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",`+
		`"language":"en-US","referrer":"https://www.google.com/"},`+
		`"location":{"url":"https://docs.example.com/guides/getting-started/install?utm_source=newsletter&utm_medium=email","displayContext":"site",`+
		`"siteSection":"sitesc_Ab3dE","siteSpace":"sitesp_9xYz1","siteShareKey":null,"space":"tR5uKz0LqWnEvB2yHc7D","revision":"rev_%d","page":"pg_%d"},`+
		`"timestamp":"2026-03-04T05:06:%02d.123Z"}`, i%5000, i%9000, i%7, i%300, i%7)
}

// TypicalBody returns a request body with n typical events.
func TypicalBody(n int) []byte {
	list := make([]string, n)
	for i := range list {
		list[i] = TypicalEvent(i)
	}
	return []byte(Events(list...))
}

// BodySizes are the numbers of events that benchmarks put into a request.
var BodySizes = []int{1, 10, 100}

// ReasonOf returns the reason of a refusal. It returns nil for any other error.
func ReasonOf(err error) *insights.Reason {
	if refusal, ok := errors.AsType[*insights.Refusal](err); ok {
		return refusal.Reason
	}
	return nil
}

// Cancelled returns a context that is done.
func Cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
