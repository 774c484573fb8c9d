package jobs

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
)

// FrontEnds notifies front ends of changes. Its errors are texts for users.
type FrontEnds interface {
	Revalidate(ctx context.Context, tags []string) error
}

// revalidateFrontEnds sends changes until no change is left. If a sent change could not be deleted, it is sent again.
func revalidateFrontEnds(ctx context.Context, d Deps, args schema.RevalidateFrontEnds) error {
	if d.FrontEnds == nil {
		return GiveUp(&schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job has no OCTAVO_FRONT_ENDS"})
	}
	for {
		changes, err := d.Store.Hooks.FrontEndChanges(ctx, args.Organization)
		if err != nil || len(changes.Tags) == 0 {
			return err
		}
		if err := d.FrontEnds.Revalidate(ctx, changes.Tags); err != nil {
			return &schema.Error{Code: schema.CodeUnavailable, Message: err.Error(), Cause: err}
		}
		if err := d.Store.Hooks.ForgetFrontEndChanges(ctx, changes); err != nil {
			return err
		}
	}
}
