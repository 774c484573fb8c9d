// Package eventually waits for conditions that a test can only poll. Where a channel or the exit of a process signals
// an event, wait for that instead. The package must not import any package of this module, so that the tests of any
// package may import it.
package eventually

import (
	"context"
	"errors"
	"testing"
	"time"
)

// maxGap is the longest pause between two polls. The first pauses are shorter, so that a condition that is almost met
// costs no time.
const maxGap = 10 * time.Millisecond

var errNot = errors.New("the condition was not met")

// True returns when a condition holds and fails the test if it does not within the limit. Passing tests do not wait for
// the limit: a condition that holds is seen at once.
func True(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	Succeeds(t, limit, what, func() error {
		if holds() {
			return nil
		}
		return errNot
	})
}

// Succeeds is like True for a function whose error says what is still missing. The last error is in the failure
// message.
func Succeeds(t testing.TB, limit time.Duration, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for gap := time.Millisecond; ; gap = min(2*gap, maxGap) {
		// Check the deadline before polling: then the last poll is always after the limit, however slow the machine is.
		over := context.Cause(ctx)
		err := ask()
		if err == nil {
			return
		}
		if over != nil {
			t.Fatalf("waited in vain for %s (%v, limit %s): %v", what, over, limit, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(gap):
		}
	}
}
