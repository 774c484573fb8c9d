package jobs

import (
	"context"
	"errors"

	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/issues"
)

// Refiner lets a language model write a title and a summary of a cluster, from the titles of its issues. language is
// empty if it is unknown. A text that the model did not return is empty. Its errors are of type *provider.Error.
type Refiner interface {
	Refine(ctx context.Context, language string, titles []string) (title, overview string, err error)
}

// refineClusters refines one cluster after the other. If it is stopped, the finished clusters stay refined.
func refineClusters(ctx context.Context, d Deps, args schema.RefineClusters) error {
	if d.Refiner == nil {
		return nil // The setting was removed: the titles of the built-in method stay.
	}
	after := ""
	for {
		clusters, err := d.Store.Issues.UnrefinedClusters(ctx, args.Organization, after)
		if err != nil || len(clusters) == 0 {
			return err
		}
		for _, cluster := range clusters {
			after = cluster.ID
			var r issues.Refinement
			r.Title, r.Overview, err = d.Refiner.Refine(ctx, cluster.Language, cluster.Titles)
			failed, byProvider := errors.AsType[*provider.Error](err)
			switch {
			case byProvider && !aboutText(failed.Reason):
				return explainProvider(failed)
			case err != nil && !byProvider:
				return err
			}
			if err := d.Store.Issues.RefineCluster(ctx, args.Organization, cluster, r); err != nil {
				return err
			}
		}
	}
}

// aboutText reports whether a failure is about one cluster only. That cluster stays unchanged, and the next cluster may
// succeed.
func aboutText(reason *provider.Reason) bool {
	return reason == provider.Refused || reason == provider.Cut || reason == provider.Malformed
}
