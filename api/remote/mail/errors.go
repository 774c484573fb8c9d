package mail

import (
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Reason is the cause of a mail's failure: one row of Reasons.
type Reason struct {
	Label string
	// Mail means that the failure is about this mail, so other mails may be sent on the connection. If it is false, the
	// failure is about the server.
	Mail bool
	// Final means that a retry of the mail would fail again.
	Final bool
	// Text completes the sentence "the mail server ..." for users.
	Text string
}

// These are the reasons why a mail is not sent. An operator can repair the server's problems, so mails wait for the
// repair.
var (
	Unreachable = &Reason{"unreachable", false, false, "cannot be reached"}
	Interrupted = &Reason{"interrupted", false, false, "did not complete an answer"}
	Insecure    = &Reason{"insecure", false, false, "offers no encrypted connection"}
	Untrusted   = &Reason{"untrusted", false, false, "has no TLS certificate that can be trusted"}
	BadLogin    = &Reason{"bad_login", false, false, "does not accept the login"}
	Unwilling   = &Reason{"unwilling", false, false, "takes no mail from this sender"}
	Busy        = &Reason{"busy", false, false, "takes no more mail now"}
	Malformed   = &Reason{"malformed", false, false, "gave an answer that is not understood"}
	Postponed   = &Reason{"postponed", true, false, "does not take this mail now"}
	Refused     = &Reason{"refused", true, true, "refuses this mail"}
	BadAddress  = &Reason{"bad_address", true, true, "cannot be given an address of this form"}

	Reasons = []*Reason{Unreachable, Interrupted, Insecure, Untrusted, BadLogin, Unwilling, Busy, Malformed, Postponed, Refused, BadAddress}
)

// Error is the reason why a mail was not sent. The text of an Error is for users. The cause may repeat the server's
// text, and is for logs.
type Error struct {
	Reason *Reason
	// Status is the status in the server's answer, such as "550 5.1.1"; "" if there was no answer.
	Status string
	cause  error
}

// Error is a message that a user may read. The message has only the codes of the server's answer, because the answer's
// text may name other hosts.
func (e *Error) Error() string {
	text := "the mail server " + e.Reason.Text
	if e.Status != "" {
		text += " (" + e.Status + ")"
	}
	if why, ok := e.cause.(*outbound.Error); ok { //nolint:errorlint // Errors that the cause wraps are for logs.
		text += ": it " + why.Reason.Text
	}
	return text
}

// Unwrap returns the cause, for logs.
func (e *Error) Unwrap() error { return e.cause }

// enhanced is a status code of RFC 3463 at the start of an answer.
var enhanced = regexp.MustCompile(`^[45]\.\d{1,3}\.\d{1,3}\b`)

// status returns the server's answer in an error. The code is 0 if the error has no answer.
func status(err error) (text string, code int) {
	answer, ok := errors.AsType[*textproto.Error](err)
	if !ok || answer.Code < 400 || answer.Code > 599 {
		return "", 0
	}
	text = fmt.Sprint(answer.Code)
	if more := enhanced.FindString(answer.Msg); more != "" {
		text += " " + more
	}
	return text, answer.Code
}

// opening returns the Error for a connection that could not be opened.
func opening(err error) *Error {
	text, code := status(err)
	e := &Error{Reason: Unwilling, Status: text, cause: err}
	switch {
	case strings.HasPrefix(err.Error(), "STARTTLS"):
		e.Reason = Insecure
	case code/100 == 4:
		e.Reason = Interrupted
	case strings.Contains(err.Error(), "AUTH"):
		e.Reason = BadLogin
	case code == 0:
		return unanswered(err)
	}
	return e
}

// unanswered returns the Error for a connection that failed or got no answer.
func unanswered(err error) *Error {
	why := outbound.Explain(err)
	e := &Error{Reason: Interrupted, cause: why}
	switch why.Reason {
	case outbound.TLSFailed:
		e.Reason = Untrusted
	case outbound.BadResponse:
		e.Reason = Malformed
	case outbound.TimedOut, outbound.ConnectionLost, outbound.Canceled:
	default:
		e.Reason = Unreachable
	}
	return e
}

// sending returns the Error for a mail that was not sent; nil if it was sent. The library reports only the codes and
// one text for all errors of a mail.
func sending(err error) *Error {
	failed, ok := errors.AsType[*mail.SendError](err)
	if !ok {
		return &Error{Reason: Interrupted, cause: err}
	}
	e := &Error{Reason: Postponed, cause: err}
	code := failed.ErrorCode()
	if code != 0 {
		e.Status = strings.TrimSpace(strconv.Itoa(code) + " " + failed.EnhancedStatusCode())
	}
	from := failed.Reason == mail.ErrSMTPMailFrom
	switch {
	case failed.Reason == mail.ErrSMTPReset:
		return nil // The server has the mail.
	case code == 0 || code == 421: // The server closes the connection.
		e.Reason = Interrupted
	case from && code < 500:
		e.Reason = Busy
	case from:
		e.Reason = Unwilling
	case code >= 500:
		e.Reason = Refused
	}
	return e
}
