package provider

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Reason is a reason why a call had no usable answer. It is a row of Reasons.
type Reason struct {
	Label string
	// Retryable is true if the same call may succeed later.
	Retryable bool
	// Text is the end of the sentence "<the provider> ..." for users.
	Text string
}

// These are the reasons why a call has no usable answer.
var (
	Unreachable  = &Reason{"unreachable", false, "cannot be reached"}
	Interrupted  = &Reason{"interrupted", true, "did not complete an answer"}
	Unauthorized = &Reason{"unauthorized", false, "does not accept its key"}
	Exhausted    = &Reason{"exhausted", false, "does nothing until its account has credit again"}
	Limited      = &Reason{"limited", true, "takes no more requests now"}
	Unavailable  = &Reason{"unavailable", true, "has a failure of its own"}
	Rejected     = &Reason{"rejected", false, "rejects the request"}
	Refused      = &Reason{"refused", false, "refuses to work on this text"}
	Cut          = &Reason{"cut", false, "cut its answer off at the greatest length"}
	Malformed    = &Reason{"malformed", true, "gave an answer that is not understood"}
	NoLanguage   = &Reason{"no_language", false, "does not translate between these languages"}

	Reasons = []*Reason{Unreachable, Interrupted, Unauthorized, Exhausted, Limited, Unavailable, Rejected, Refused, Cut, Malformed, NoLanguage}
)

// Error says why a call had no usable answer. Its text is for users. Its cause is for logs, and may contain the
// provider's text.
type Error struct {
	Reason *Reason
	// Provider is the name of the provider for users, such as "the translator".
	Provider string
	// Status is the status of the answer. It is 0 if there was no answer.
	Status int
	// RetryAfter is the pause that the provider has requested. It is 0 if the provider has requested none.
	RetryAfter time.Duration
	cause      error
}

// Error returns a message that users may read.
func (e *Error) Error() string {
	text := e.Provider + " " + e.Reason.Text
	if e.Status != 0 && e.Status != http.StatusOK {
		text += " (status " + strconv.Itoa(e.Status) + ")"
	}
	if why, ok := e.cause.(*outbound.Error); ok { //nolint:errorlint // Errors that the cause wraps are for logs.
		text += ": it " + why.Reason.Text
	}
	return text
}

// Unwrap returns the cause. The cause is for logs.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool { return e.Reason.Retryable }

// Fail returns an Error for a problem that a caller has found in an answer.
func (c *Client) Fail(reason *Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Provider: c.name, cause: fmt.Errorf(format, args...)}
}

// unreached returns an Error for an error of the outbound client.
func (c *Client) unreached(err error) *Error {
	why := outbound.Explain(err)
	reason := Unreachable
	switch {
	case why.Reason == outbound.BadResponse || why.Reason == outbound.TooLarge:
		reason = Malformed
	case why.Reason.Retryable:
		reason = Interrupted
	}
	return &Error{Reason: reason, Provider: c.name, cause: why}
}
