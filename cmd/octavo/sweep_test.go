package main

import (
	"context"
	"errors"
	"testing"
)

// TestSweepFollowsTheBacklog: the sweep continues as long as more is left,
// without a bound on the number of batches.
func TestSweepFollowsTheBacklog(t *testing.T) {
	t.Parallel()
	left := 1000
	more, err := sweep(t.Context(), func(context.Context) (bool, error) {
		left--
		return left > 0, nil
	})
	if more || err != nil || left != 0 {
		t.Errorf("%d steps are left, %v, %v", left, more, err)
	}
	broken := errors.New("the database is away")
	if more, err := sweep(t.Context(), func(context.Context) (bool, error) { return false, broken }); more || !errors.Is(err, broken) {
		t.Errorf("after an error: %v, %v", more, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if more, err := sweep(ctx, func(ctx context.Context) (bool, error) { cancel(); return true, ctx.Err() }); more || err == nil {
		t.Errorf("when the node stops: %v, %v", more, err)
	}
}
