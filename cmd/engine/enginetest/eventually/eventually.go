// Package eventually waits for conditions that a test can only poll. If a channel or the exit of a process signals an
// event, wait for this signal instead of polling. The package must not import any package of this module, so that the
// tests of any package may import it.
package eventually

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Patience is the longest time that a test waits. It only ends a test that hangs. Even on a loaded machine, other waits
// are far shorter. Patience is shorter than the ten minutes after which go test ends a package, so the failure names
// the condition.
const Patience = 8 * time.Minute

// maxGap is the longest pause between two polls that take little time. The first pauses are shorter, so that a test
// goes on soon after its condition is met. A pause is at least restPerPoll times as long as the poll. So waiting tests
// leave the processor to the awaited work. slowGap is the longest pause after a slow poll.
const (
	maxGap      = 10 * time.Millisecond
	restPerPoll = 4
	slowGap     = time.Second
)

var errNot = errors.New("the condition was not met")

// True returns when a condition is met. It fails the test if the condition is not met within Patience. It polls
// immediately, so a condition that is already met costs no time.
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Succeeds(t, what, func() error {
		if holds() {
			return nil
		}
		return errNot
	})
}

// Succeeds is like True, for a function whose error describes the missing condition. The last error is in the failure
// message.
func Succeeds(t testing.TB, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	for gap := time.Millisecond; ; gap = min(2*gap, maxGap) {
		// Check the deadline before polling. Then the last poll always happens after the limit, even on a slow machine.
		over := context.Cause(ctx)
		began := time.Now()
		err := ask()
		if err == nil {
			return
		}
		if over != nil {
			t.Fatalf("waited for %s until the limit of %s (%v): %v", what, Patience, over, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(gap, min(restPerPoll*time.Since(began), slowGap))):
		}
	}
}
