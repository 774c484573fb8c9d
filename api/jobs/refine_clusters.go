package jobs

import (
	"context"
	"errors"

	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/issues"
)

// Refiner asks a language model for a title and a summary of a cluster. `titles` are the titles of the cluster's
// issues. `language` is their language, or "" if it is unknown. If the model returns no title or no summary, the result
// is "". Errors of the model are of type *provider.Error.
type Refiner interface {
	Refine(ctx context.Context, language string, titles []string) (title, overview string, err error)
}

// refineClusters refines the clusters of an organization one after the other, and stores each result at once. So if the
// job is stopped, the next attempt continues with the remaining clusters.
func refineClusters(ctx context.Context, d Deps, args schema.RefineClusters) error {
	if d.Refiner == nil {
		// The operator has removed the setting. The titles of the built-in method stay.
		return nil
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

// aboutText reports whether a failure was caused by the texts of one cluster. That cluster then stays unchanged, and
// the job continues with the next cluster.
func aboutText(reason *provider.Reason) bool {
	return reason == provider.Refused || reason == provider.Cut || reason == provider.Malformed
}
