package schema

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Code is the status of a refused request. It is the HTTP status, and `error.code` in the body. Clients may rely on the
// list of codes, so a new code changes the contract.
type Code int

// These are the statuses of refused requests.
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

// Detail is one problem of one member of a request. Field is the name of a query or path parameter, or the path of a
// member in the body. A path may have array indexes, for example `events[3].location.url`.
type Detail struct {
	Field   string   `json:"field"`
	Problem string   `json:"problem"`
	Allowed []string `json:"allowed,omitempty"`
}

// Error is the only type of error that clients see. Message and Details are public, so they must not contain data that
// the client may not read. Cause is private. It is logged and never sent. So clients do not see the messages of
// databases.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	RetryAfter time.Duration
	Cause      error
}

// Error returns the text for logs. This text contains the private cause, but the response does not.
func (e *Error) Error() string {
	text := strconv.Itoa(int(e.Code)) + ": " + e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the private cause, so that errors.Is finds it.
func (e *Error) Unwrap() error { return e.Cause }

// RetryAfterSeconds returns the value of the Retry-After header. The value is rounded up, so that clients do not retry
// too early. The value 0 means that the response has no such header.
func (e *Error) RetryAfterSeconds() int {
	if e.RetryAfter <= 0 {
		return 0
	}
	return int((e.RetryAfter + time.Second - 1) / time.Second)
}

// ErrorBody is the body of the response to every refused request.
type ErrorBody struct {
	Error ErrorObject `json:"error"`
}

// ErrorObject is the member `error` of ErrorBody.
type ErrorObject struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Details []Detail `json:"details,omitempty"`
}

// Body returns the public part of the error.
func (e *Error) Body() ErrorBody {
	return ErrorBody{Error: ErrorObject{Code: int(e.Code), Message: e.Message, Details: e.Details}}
}

// BadRequest returns the error for a request with a problem that does not belong to a single member.
func BadRequest(message string) *Error {
	return &Error{Code: CodeBadRequest, Message: message}
}

// Invalid returns the error for a request with a problem in one member. `field` is the name of the member. `problem` is
// the end of a sentence that begins with this name. `allowed` lists the accepted values, if the member has only a few.
func Invalid(field, problem string, allowed ...string) *Error {
	return InvalidAll([]Detail{{Field: field, Problem: problem, Allowed: allowed}})
}

// InvalidAll returns the error for a request with problems in several members. The message repeats the first problem,
// because most people read only the message.
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

// Unauthorized returns the error for a request without valid credentials.
func Unauthorized(message string) *Error {
	return &Error{Code: CodeUnauthorized, Message: message}
}

// Forbidden returns the error for a caller who lacks the right that the request needs. The caller may know that the
// object exists.
func Forbidden(message string) *Error {
	return &Error{Code: CodeForbidden, Message: message}
}

// NotFound returns the error for an object that does not exist. For an object of another tenant, code must return the
// same error. So the client does not learn that the object exists.
func NotFound(what string) *Error {
	return &Error{Code: CodeNotFound, Message: what + " not found"}
}

// MethodNotAllowed returns the error for a request whose method is not allowed for its path. Package frame adds the
// Allow header.
func MethodNotAllowed(method string) *Error {
	return &Error{Code: CodeMethodNotAllowed, Message: "method " + method + " is not allowed here"}
}

// Conflict returns the error for a request that conflicts with the stored data.
func Conflict(message string) *Error {
	return &Error{Code: CodeConflict, Message: message}
}

// PreconditionFailed returns the error for a request that is not possible in the present state.
func PreconditionFailed(message string) *Error {
	return &Error{Code: CodePreconditionFailed, Message: message}
}

// TooLarge returns the error for a request that is larger than the operation accepts.
func TooLarge(message string) *Error {
	return &Error{Code: CodeTooLarge, Message: message}
}

// UnsupportedMedia returns the error for a body with an unsupported type or encoding.
func UnsupportedMedia(message string) *Error {
	return &Error{Code: CodeUnsupportedMedia, Message: message}
}

// TooManyRequests returns the error for a client that should send fewer requests.
func TooManyRequests(message string, retryAfter time.Duration) *Error {
	return &Error{Code: CodeTooManyRequests, Message: message, RetryAfter: retryAfter}
}

// CatchPanic turns a panic into an error with the panic's stack. It must be deferred. A goroutine that works for a
// request needs it, because a panic would end the process. Only the panics of the request's own goroutine are caught
// elsewhere.
func CatchPanic(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
	}
}

// Internal returns an error with a fixed public message. The cause is logged and never sent.
func Internal(cause error) *Error {
	return &Error{Code: CodeInternal, Message: "internal error", Cause: cause}
}

// Unavailable returns the error for a request that needs a service which does not respond. The request had no effect,
// so the client may send it again.
func Unavailable(cause error, retryAfter time.Duration) *Error {
	return &Error{
		Code: CodeUnavailable, Message: "the service is temporarily unavailable, try again", RetryAfter: retryAfter, Cause: cause,
	}
}

// AsError turns any error into an Error. If the chain of err contains an Error, AsError returns this Error unchanged.
// For an exceeded deadline or a cancellation, it returns an Error with the status 503, because the client may try
// again. Any other error becomes an internal error.
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
