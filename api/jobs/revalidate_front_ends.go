package jobs

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
)

// FrontEnds notifies front ends of changes. `tags` are the cache tags of the changed objects. Users see the texts of
// its errors.
type FrontEnds interface {
	Revalidate(ctx context.Context, tags []string) error
}

// revalidateFrontEnds notifies front ends of the changes of an organization, and deletes them from the store, until no
// change is left. If the deletion fails, the front ends are notified of the same changes again.
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
