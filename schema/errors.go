package schema

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is the status of a refusal. It is both the HTTP status and `error.code` in the body. The set is closed: clients
// may switch over it, so a new value changes the contract.
type Code int

// The statuses of refused requests.
const (
	CodeBadRequest         Code = http.StatusBadRequest
	CodeUnauthorized       Code = http.StatusUnauthorized
	CodeForbidden          Code = http.StatusForbidden
	CodeNotFound           Code = http.StatusNotFound
	CodeMethodNotAllowed   Code = http.StatusMethodNotAllowed
	CodeTimeout            Code = http.StatusRequestTimeout
	CodeConflict           Code = http.StatusConflict
	CodePreconditionFailed Code = http.StatusPreconditionFailed
	CodeTooLarge           Code = http.StatusRequestEntityTooLarge
	CodeUnsupportedMedia   Code = http.StatusUnsupportedMediaType
	CodeTooManyRequests    Code = http.StatusTooManyRequests
	CodeInternal           Code = http.StatusInternalServerError
	CodeUnavailable        Code = http.StatusServiceUnavailable
)

// Detail is one problem of one member of a request. Field is a path from the body's root, with array indexes
// (`events[3].location.url`). Otherwise it is the name of a query or path parameter.
type Detail struct {
	Field   string   `json:"field"`
	Problem string   `json:"problem"`
	Allowed []string `json:"allowed,omitempty"`
}

// Error is the only error that clients see. Message and Details are public. They must not contain data that strangers
// may not read. Cause is private. It is logged and never part of a response, so that clients do not see the database's
// messages.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	RetryAfter time.Duration
	Cause      error
}

// Error is the text for logs. Unlike the response, it includes the private cause.
func (e *Error) Error() string {
	text := strconv.Itoa(int(e.Code)) + ": " + e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap lets errors.Is see the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// RetryAfterSeconds returns the value of the Retry-After header. It is rounded up, so that clients do not retry too
// early. 0 means no header.
func (e *Error) RetryAfterSeconds() int {
	if e.RetryAfter <= 0 {
		return 0
	}
	return int((e.RetryAfter + time.Second - 1) / time.Second)
}

// ErrorBody is the contract's shape of every refused request.
type ErrorBody struct {
	Error ErrorObject `json:"error"`
}

// ErrorObject is the inner object of ErrorBody.
type ErrorObject struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Details []Detail `json:"details,omitempty"`
}

// Body returns the public part of the error.
func (e *Error) Body() ErrorBody {
	return ErrorBody{Error: ErrorObject{Code: int(e.Code), Message: e.Message, Details: e.Details}}
}

// BadRequest refuses a request if no single member is at fault.
func BadRequest(message string) *Error {
	return &Error{Code: CodeBadRequest, Message: message}
}

// Invalid refuses a request because of one member. Field names it, problem completes the sentence "<field> ...", and allowed
// lists the accepted values if they are few.
func Invalid(field, problem string, allowed ...string) *Error {
	return InvalidAll([]Detail{{Field: field, Problem: problem, Allowed: allowed}})
}

// InvalidAll refuses a request because of several members. The message repeats the first detail because most people read
// only the message.
func InvalidAll(details []Detail) *Error {
	if len(details) == 0 {
		return BadRequest("the request is invalid")
	}
	first := details[0]
	message := first.Field + " " + first.Problem
	if first.Field == "" {
		message = "the body " + first.Problem
	}
	if len(first.Allowed) > 0 {
		message += " (allowed: " + strings.Join(first.Allowed, ", ") + ")"
	}
	if more := len(details) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	return &Error{Code: CodeBadRequest, Message: message, Details: details}
}

// Unauthorized answers a request without acceptable credentials.
func Unauthorized(message string) *Error {
	return &Error{Code: CodeUnauthorized, Message: message}
}

// Forbidden answers a caller who may know that the object exists, but has no right for the request.
func Forbidden(message string) *Error {
	return &Error{Code: CodeForbidden, Message: message}
}

// NotFound answers for an object that does not exist and, in the same words, for an object of another tenant.
func NotFound(what string) *Error {
	return &Error{Code: CodeNotFound, Message: what + " not found"}
}

// MethodNotAllowed answers a request with an unknown method for a known path. The frame adds the Allow header.
func MethodNotAllowed(method string) *Error {
	return &Error{Code: CodeMethodNotAllowed, Message: "method " + method + " is not allowed here"}
}

// Conflict answers a request that contradicts the stored data.
func Conflict(message string) *Error {
	return &Error{Code: CodeConflict, Message: message}
}

// PreconditionFailed answers a request whose object is not in a state that allows it.
func PreconditionFailed(message string) *Error {
	return &Error{Code: CodePreconditionFailed, Message: message}
}

// TooLarge answers a request that is larger than the operation accepts.
func TooLarge(message string) *Error {
	return &Error{Code: CodeTooLarge, Message: message}
}

// UnsupportedMedia answers a body with an unsupported type or encoding.
func UnsupportedMedia(message string) *Error {
	return &Error{Code: CodeUnsupportedMedia, Message: message}
}

// TooManyRequests asks the client to slow down.
func TooManyRequests(message string, retryAfter time.Duration) *Error {
	return &Error{Code: CodeTooManyRequests, Message: message, RetryAfter: retryAfter}
}

// Internal hides an internal error behind a fixed message.
func Internal(cause error) *Error {
	return &Error{Code: CodeInternal, Message: "internal error", Cause: cause}
}

// Unavailable answers while a required service does not respond. The request was not carried out and may be sent again.
func Unavailable(cause error, retryAfter time.Duration) *Error {
	return &Error{
		Code: CodeUnavailable, Message: "the service is temporarily unavailable, try again", RetryAfter: retryAfter, Cause: cause,
	}
}

// AsError turns any error into an Error. An Error anywhere in the chain is returned unchanged. A deadline or a cancellation
// becomes a 503, because the work may be tried again. Anything else is an internal error.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Unavailable(err, time.Second)
	}
	return Internal(err)
}

// IsCode reports whether err is an Error with this code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
