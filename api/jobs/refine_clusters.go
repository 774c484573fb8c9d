package jobs

import (
	"context"
	"errors"

	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/issues"
)

// Refiner has a language model write about a cluster of issues of which it is told the titles. language is empty if it is not known.
// What is empty in the answer, the model had nothing to say about. Its errors are of type *provider.Error.
type Refiner interface {
	Refine(ctx context.Context, language string, titles []string) (title, overview string, err error)
}

// refineClusters asks about one cluster after the other. What it has been told stays if it is stopped.
func refineClusters(ctx context.Context, d Deps, args schema.RefineClusters) error {
	if d.Refiner == nil {
		return nil // The setting was taken back: the titles of the built-in method stay.
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

// aboutText reports whether a failure is about one cluster alone. It keeps what it has: the next may fare better.
func aboutText(reason *provider.Reason) bool {
	return reason == provider.Refused || reason == provider.Cut || reason == provider.Malformed
}
