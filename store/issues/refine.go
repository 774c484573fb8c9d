package issues

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// A language model writes the title of a cluster once, as soon as the analysis no longer changes the title. It writes
// the summary again each time the cluster has grown by the factor refineGrowth.
const (
	refineGrowth = 4
	// refineSample is the largest number of a cluster's issues that the model gets. refineBatch is the largest number
	// of clusters that one statement reads.
	refineSample = 12
	refineBatch  = 50
)

const reasonRefined = "A language model found a title that says better what the cluster is about."

// UnrefinedCluster is a cluster for which a language model must write a text. Titles are the titles of a limited number
// of its issues. Language is "" if it is unknown.
type UnrefinedCluster struct {
	ID       string
	Language string
	Titles   []string
}

// Refinement is a language model's text about a cluster. An empty field changes nothing.
type Refinement struct{ Title, Overview string }

// AskForRefining enqueues the job that refines the clusters of an organization, if there are clusters to refine.
func (s *Store) AskForRefining(ctx context.Context, organizationID string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		rows, err := q.ClustersToRefine(ctx, refinable(organizationID, "", 1))
		if err != nil || len(rows) == 0 {
			return err
		}
		return postgres.Enqueue(ctx, q, schema.RefineClusters{Organization: organizationID})
	})
}

func refinable(organizationID, after string, most int32) db.ClustersToRefineParams {
	return db.ClustersToRefineParams{
		OrganizationID: organizationID, After: after, Least: labelSettles, Growth: refineGrowth, Most: most,
	}
}

// UnrefinedClusters returns the next clusters to refine, sorted by id, after the id `after`. The list is empty if there
// are no more clusters.
func (s *Store) UnrefinedClusters(ctx context.Context, organizationID, after string) ([]UnrefinedCluster, error) {
	q := s.db.Queries
	rows, err := q.ClustersToRefine(ctx, refinable(organizationID, after, refineBatch))
	if err != nil {
		return nil, err
	}
	clusters, ids := make([]UnrefinedCluster, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		clusters[i], ids[i] = UnrefinedCluster{ID: row.ID, Language: row.Language}, row.ID
	}
	titles, err := titlesOf(ctx, q, ids)
	for i := range clusters {
		clusters[i].Titles = titles[clusters[i].ID]
	}
	return clusters, err
}

// titlesOf returns the titles of issues that the language model gets, by cluster.
func titlesOf(ctx context.Context, q *db.Queries, ids []string) (map[string][]string, error) {
	rows, err := q.ClusterIssuesSample(ctx, db.ClusterIssuesSampleParams{Clusters: ids, Most: refineSample})
	titles := map[string][]string{}
	for _, row := range rows {
		titles[postgres.Deref(row.ClusterID)] = append(titles[postgres.Deref(row.ClusterID)], row.Title)
	}
	return titles, err
}

// RefineCluster stores a language model's text, and enqueues the job that writes the text into the cluster's summary.
// The model's title is used only once. If the cluster was deleted, or if its issues are not the issues that the model
// got, RefineCluster changes nothing.
func (s *Store) RefineCluster(ctx context.Context, organizationID string, cluster UnrefinedCluster, r Refinement) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err := q.ClusterToRefine(ctx, db.ClusterToRefineParams{ID: cluster.ID, OrganizationID: organizationID})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		titles, err := titlesOf(ctx, q, []string{cluster.ID})
		if err != nil || !slices.Equal(titles[cluster.ID], cluster.Titles) {
			return err
		}
		update := db.RefineClusterParams{ID: row.ID, Label: row.Label, Overview: row.Overview, Titled: row.Titled}
		if r.Overview != "" {
			update.Overview = r.Overview
		}
		if r.Title != "" && !row.Titled {
			update.Label, update.Titled = r.Title, true
		}
		update.Changed = update.Label != row.Label || update.Overview != row.Overview
		if err := q.RefineCluster(ctx, update); err != nil {
			return err
		}
		if !update.Changed {
			return nil
		}
		if update.Label != row.Label {
			err := postgres.BatchExec(q.InsertClusterEvents(ctx, []db.InsertClusterEventsParams{{
				ID: schema.NewID(), OrganizationID: organizationID, ClusterID: row.ID, Kind: schema.ClusterRenamed, Title: row.Label,
				Reason: reasonRefined, CreatedAt: time.Now(),
			}}).Exec)
			if err != nil {
				return err
			}
		}
		return postgres.Enqueue(ctx, q, schema.ClusterConversations{Organization: organizationID})
	})
}
