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

// Reason is the reason why a mail was not sent. It is a row of Reasons.
type Reason struct {
	Label string
	// Mail is true if the failure is about this mail. Other mails may then be sent on the same connection. If Mail is
	// false, the failure is about the server.
	Mail bool
	// Final is true if another attempt to send the mail would fail too.
	Final bool
	// Text is the end of the sentence "the mail server ..." for users.
	Text string
}

// These are the reasons why a mail is not sent. If the server has a problem, the operator can repair it, so mails wait
// for the repair.
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

// Error says why a mail was not sent. Its text is for users. Its cause is for logs, and may contain the server's text.
type Error struct {
	Reason *Reason
	// Status is the status in the server's answer, such as "550 5.1.1". It is "" if there was no answer.
	Status string
	cause  error
}

// Error returns a message that users may read. The message contains only the codes of the server's answer, because the
// text of the answer may name other hosts.
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

// Unwrap returns the cause. The cause is for logs.
func (e *Error) Unwrap() error { return e.cause }

// enhanced matches a status code of RFC 3463 at the start of an answer.
var enhanced = regexp.MustCompile(`^[45]\.\d{1,3}\.\d{1,3}\b`)

// status returns the status in the server's answer, and its code. The code is 0 if the error contains no answer.
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

// unanswered returns the Error for a connection that failed or on which the server did not answer.
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

// sending returns the Error for a mail that was not sent. It returns nil if the mail was sent. For all errors of a
// mail, the library reports only the codes and one text.
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
		return nil // the server has accepted the mail
	case code == 0 || code == 421: // the server closes the connection
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
