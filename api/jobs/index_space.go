package jobs

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
)

func indexSpace(ctx context.Context, d Deps, args schema.IndexSpace) error {
	return d.Store.IndexSpace(ctx, args.Space)
}
