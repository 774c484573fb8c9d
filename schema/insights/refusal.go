package insights

import "fmt"

// Refusal is the error of a request whose events were not accepted. The events are not stored if Reason is not
// retryable. If Reason is retryable, the events may have been stored.
//
// Message is public. It contains only names of fields and limits, and never a value from the request.
type Refusal struct {
	Reason  *Reason
	Index   int    // the event's index in the request; -1 means the whole request
	Field   string // path from the body's root, such as events[3].session.visitorId; "" for the whole body
	Problem string // completes the sentence "<field> …"
	Message string // Field and Problem
	Cause   error  // private: for logs, and never in a response
}

// Error returns the text for logs. Unlike Message, it includes the private cause.
func (e *Refusal) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap lets errors.Is see the private cause.
func (e *Refusal) Unwrap() error { return e.Cause }

// Because sets the private cause.
func (e *Refusal) Because(cause error) *Refusal {
	e.Cause = cause
	return e
}

// Refuse returns the refusal of a whole request.
func Refuse(reason *Reason, field, problem string) *Refusal {
	message := problem
	if field != "" {
		message = field + ": " + problem
	}
	return &Refusal{Reason: reason, Index: -1, Field: field, Problem: problem, Message: message}
}

// RefuseEvent returns the refusal of a request because of one of its events. `field` is the path within the event.
func RefuseEvent(reason *Reason, index int, field, problem string) *Refusal {
	path := fmt.Sprintf("events[%d]", index)
	if field != "" {
		path += "." + field
	}
	return &Refusal{Reason: reason, Index: index, Field: path, Problem: problem, Message: path + ": " + problem}
}
