package ingest

import (
	"fmt"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Error is why a request was not accepted: nothing of it is stored, or, for a
// Reason that is retryable, it is not known to be.
//
// Message is public: it quotes field names of ours and limits, never a value
// that was sent.
type Error struct {
	Reason  *insights.Reason
	Index   int    // the event's place in the request, -1 for the whole request
	Field   string // path from the body's root, such as events[3].session.visitorId; "" for the whole body
	Problem string // completes the sentence "<field> …"
	Message string // Field and Problem
	Cause   error  // private: for the log, never for an answer
}

// Error is the text for logs: unlike Message it includes the private cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap lets errors.Is see the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// refuse makes the error of a whole request.
func refuse(reason *insights.Reason, field, problem string) *Error {
	e := &Error{Reason: reason, Index: -1, Field: field, Problem: problem}
	if field == "" {
		e.Message = problem
	} else {
		e.Message = field + ": " + problem
	}
	return e
}

// refuseEvent makes the error of one event. field is the path in the event.
func refuseEvent(reason *insights.Reason, index int, field, problem string) *Error {
	path := fmt.Sprintf("events[%d]", index)
	if field != "" {
		path += "." + field
	}
	return &Error{Reason: reason, Index: index, Field: path, Problem: problem, Message: path + ": " + problem}
}
