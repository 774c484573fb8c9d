package gitsync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Step is a step of a fetch or push. An Error says in which step the fetch or push failed.
type Step string

// These are the steps, in the order in which they happen.
const (
	StepResolve      Step = "resolve"      // look up the addresses of the host, and check them
	StepConnect      Step = "connect"      // connect and request the branches
	StepAuthenticate Step = "authenticate" // log in
	StepFindRef      Step = "find the ref" // find the repository and the branch
	StepFetch        Step = "fetch"        // receive the pack
	StepRead         Step = "read"         // read the objects of the pack
	StepWrite        Step = "write"        // make the new commit
	StepPush         Step = "push"         // send the commit
)

// Reason is the reason why a fetch or push failed. It is a row of Reasons.
type Reason struct {
	Label     string // label in metrics and logs
	Retryable bool   // whether a later attempt may succeed although nobody has changed anything
	Text      string // text for users
}

// These are the reasons why a fetch or push fails. The states and the messages of operations are made from these rows.
var (
	// Error.Retryable does not use this row: it uses the reason of package outbound
	Unreachable     = &Reason{"unreachable", false, "the server cannot be reached"}
	LoginRefused    = &Reason{"login_refused", false, "the server asks for a login, or refuses the one that it was given"}
	NoRepository    = &Reason{"no_repository", false, "there is no repository at this address, or the login may not see it"}
	NotGit          = &Reason{"not_git", false, "the server does not speak Git's smart HTTP protocol at this address"}
	ServerFailed    = &Reason{"server_failed", true, "the server failed"}
	EmptyRepository = &Reason{"empty_repository", false, "the repository has no commit"}
	NoRef           = &Reason{"no_ref", false, "the repository has no such branch"}
	NoCommit        = &Reason{"no_commit", false, "the repository no longer has the commit"}
	TimedOut        = &Reason{"timed_out", true, "it took too long"}
	Canceled        = &Reason{"canceled", true, "Octavo gave up, for instance because it stops"}
	TooLarge        = &Reason{"too_large", false, "the repository is too large"}
	Damaged         = &Reason{"damaged", false, "what the server sent is damaged or incomplete"}
	NoSpace         = &Reason{"no_space", true, "Octavo could not store the repository while it read it"}
	BadChange       = &Reason{"bad_change", false, "a changed path cannot be written to the repository"}
	RemoteMoved     = &Reason{"remote_moved", true, "the branch has moved since it was fetched"}
	PushRefused     = &Reason{"push_refused", false, "the server refused the push"}

	Reasons = []*Reason{
		Unreachable, LoginRefused, NoRepository, NotGit, ServerFailed, EmptyRepository, NoRef, NoCommit, TimedOut,
		Canceled, TooLarge, Damaged,
		NoSpace, BadChange, RemoteMoved, PushRefused,
	}
)

// Error says why a fetch or push failed. Its text is for users, and its cause is for logs.
type Error struct {
	Step   Step
	Reason *Reason
	Detail string // Detail may be empty
	cause  error
}

// Error returns a message that users may read.
func (e *Error) Error() string {
	text := fmt.Sprintf("cannot %s: %s", e.Step, e.Reason.Text)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause. The cause is for logs.
func (e *Error) Unwrap() error { return e.cause }

// Error makes a Reason an error, so that callers can pass it to errors.Is.
func (r *Reason) Error() string { return r.Text }

// Is reports whether `target` is the reason of this error.
func (e *Error) Is(target error) bool {
	reason, ok := target.(*Reason)
	return ok && e.Reason == reason
}

// Retryable reports whether a later attempt may succeed although nobody has changed anything.
func (e *Error) Retryable() bool {
	if e.Reason == TimedOut && (e.Step == StepFetch || e.Step == StepRead) {
		return false // another attempt would take just as long
	}
	if reached, ok := errors.AsType[*outbound.Error](e.cause); ok {
		// If no server listens at the address, the address is most likely wrong, and a retry does not help.
		return reached.Reason.Retryable && reached.Reason != outbound.ConnectFailed
	}
	return e.Reason.Retryable
}

// stepOf has the step in which an outbound reason occurs. If a reason has no row, it occurs in the step in which the
// request was made.
var stepOf = map[*outbound.Reason]Step{
	outbound.InvalidAddress: StepResolve, outbound.RefusedPort: StepResolve, outbound.RefusedNetwork: StepResolve,
	outbound.HostNotFound: StepResolve, outbound.LookupFailed: StepResolve, outbound.ConnectFailed: StepConnect, outbound.TLSFailed: StepConnect,
}

// explain converts an error of go-git, of package outbound or of this package to an Error with this step.
func explain(step Step, err error) *Error {
	if hidden, ok := errors.AsType[*plumbing.UnexpectedError](err); ok { // UnexpectedError has no Unwrap
		err = hidden.Err
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	if reached, ok := errors.AsType[*outbound.Error](err); ok {
		e := &Error{Step: step, Reason: Unreachable, Detail: reached.Error(), cause: err}
		if at, ok := stepOf[reached.Reason]; ok {
			e.Step = at
		}
		switch reached.Reason {
		case outbound.TooLarge:
			e.Reason = TooLarge
		case outbound.TimedOut:
			e.Reason = TimedOut
		case outbound.Canceled:
			e.Reason = Canceled
		}
		return e
	}
	for _, known := range []struct {
		err    error
		step   Step
		reason *Reason
	}{
		{context.Canceled, step, Canceled},
		{context.DeadlineExceeded, step, TimedOut},
		{errRefsTooLarge, StepConnect, TooLarge},
		{transport.ErrAuthenticationRequired, StepAuthenticate, LoginRefused},
		{transport.ErrAuthorizationFailed, StepAuthenticate, LoginRefused},
		{transport.ErrRepositoryNotFound, StepFindRef, NoRepository},
		{transport.ErrEmptyRemoteRepository, StepFindRef, EmptyRepository},
		{errServerFailed, step, ServerFailed},
		{errNotGit, step, NotGit},
	} {
		if errors.Is(err, known.err) {
			return &Error{Step: known.step, Reason: known.reason, cause: err}
		}
	}
	if outbound.Explain(err).Reason == outbound.TimedOut {
		return &Error{Step: step, Reason: TimedOut, cause: err}
	}
	if step == StepConnect {
		return &Error{Step: step, Reason: NotGit, cause: err}
	}
	if _, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok || step != StepPush {
		return &Error{Step: step, Reason: Damaged, cause: err}
	}
	return &Error{Step: step, Reason: PushRefused, cause: err}
}

// said returns a server's text in one line.
func said(text string) string {
	const longest = 300
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}
