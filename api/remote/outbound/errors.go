package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
)

// Error says why a host was not reached. Its text is for users. Its cause is for logs, because it may contain internal
// addresses.
type Error struct {
	Reason *Reason
	// Host is the host that the user typed. It is "" if the host is unknown.
	Host string
	// Redirected is true if the host was reached and a redirect from it failed.
	Redirected bool
	// Detail says what is wrong with the user's input. It may be empty.
	Detail string
	cause  error
}

// Error returns a message that users may read.
func (e *Error) Error() string {
	text := "the server"
	if e.Host != "" {
		text = e.Host
	}
	if e.Redirected {
		text += " (after a redirect)"
	}
	text += " " + e.Reason.Text
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause. The cause is for logs.
func (e *Error) Unwrap() error { return e.cause }

// Explain returns the Error that is contained in an error of this package's clients or connections. If the error
// contains none, Explain makes one. The texts of net/http contain URLs and addresses, so callers must show this Error
// to users instead. Explain returns nil if `err` is nil.
func Explain(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Reason: classify(err), cause: err}
}

// classify returns the reason for an error of net, crypto/tls or net/http.
func classify(err error) *Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	if errors.Is(err, context.Canceled) {
		return Canceled
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return TimedOut
	}
	if isTLS(err) {
		return TLSFailed
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return BadResponse
	}
	if _, ok := errors.AsType[*net.OpError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed) {
		return ConnectionLost
	}
	return BadResponse
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.HostnameError](err)
	return ok
}

// shown returns a part of the user's input in quotes.
func shown(text string) string {
	const longest = 100
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.QuoteToGraphic(text)
}
