// Package eventually waits for what a test can only see by looking again and again. What tells by itself that it has happened, by a
// channel or by a process's end, is better waited for there. The package imports nothing of this module, so that the tests of any
// package may import it.
package eventually

import (
	"context"
	"errors"
	"testing"
	"time"
)

// maxGap is between two looks. The first ones follow each other sooner, so that what is nearly done costs no time.
const maxGap = 10 * time.Millisecond

var errNot = errors.New("it was not so at the last look")

// True returns when a condition holds, and fails the test if it does not within the limit. The limit bounds a failure alone: a
// condition that holds is seen at once.
func True(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	Succeeds(t, limit, what, func() error {
		if holds() {
			return nil
		}
		return errNot
	})
}

// Succeeds is True for a question whose error says what is wrong still. The last one is the test's failure.
func Succeeds(t testing.TB, limit time.Duration, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for gap := time.Millisecond; ; gap = min(2*gap, maxGap) {
		// Read before the look: the last one is after the limit, however late a busy machine comes to it.
		over := context.Cause(ctx)
		err := ask()
		if err == nil {
			return
		}
		if over != nil {
			t.Fatalf("waited in vain for %s (%v, the limit was %s): %v", what, over, limit, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(gap):
		}
	}
}
