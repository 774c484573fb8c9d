package witness

import (
	"context"
	"fmt"
	"time"
)

// Await calls `ask` until `ask` returns nil. If ctx is done before, Await returns the last error of `ask`.
func Await(ctx context.Context, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
