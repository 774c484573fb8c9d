package issues

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// describe updates the counts and descriptions of clusters. It deletes clusters without issues.
func (w *clusterWriter) describe(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, analysisRound/10) {
		if err := w.describePart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (w *clusterWriter) describePart(ctx context.Context, ids []string) error {
	before, err := w.q.ClustersByIDs(ctx, ids)
	if err != nil {
		return err
	}
	counted, err := w.q.CountedClusters(ctx, ids)
	if err != nil {
		return err
	}
	counts := map[string]db.CountedClustersRow{}
	for _, row := range counted {
		counts[postgres.Deref(row.ClusterID)] = row
	}
	bySource, err := w.q.SourcesOfClusters(ctx, ids)
	if err != nil {
		return err
	}
	sources := map[string]map[string]int64{}
	for _, row := range bySource {
		id := postgres.Deref(row.ClusterID)
		if sources[id] == nil {
			sources[id] = map[string]int64{}
		}
		sources[id][row.Source] = row.Conversations
	}
	sampled, err := w.q.ClusterIssuesSample(ctx, db.ClusterIssuesSampleParams{Clusters: ids, Most: clusterSample})
	if err != nil {
		return err
	}
	samples := map[string][]AnalyzedIssue{}
	for _, row := range sampled {
		id := postgres.Deref(row.ClusterID)
		samples[id] = append(samples[id], AnalyzedIssue{Key: row.Fingerprint, Title: row.Title, Words: row.Words, Language: row.Language, Meaning: row.Meaning})
	}
	var gone []string
	var updates []db.DescribeClustersParams
	var events []db.InsertClusterEventsParams
	for _, old := range before {
		count := counts[old.ID]
		if count.Issues == 0 {
			gone = append(gone, old.ID)
			continue
		}
		update, renamed, err := w.description(old, count, sources[old.ID], samples[old.ID])
		if err != nil {
			return err
		}
		updates = append(updates, update)
		if renamed {
			events = append(events, db.InsertClusterEventsParams{
				ID: schema.NewID(), OrganizationID: w.organizationID, ClusterID: old.ID, Kind: schema.ClusterRenamed, Title: old.Label,
				Reason: reasonRenamed, CreatedAt: w.now,
			})
		}
	}
	if len(updates) > 0 {
		err = postgres.BatchExec(w.q.DescribeClusters(ctx, updates).Exec)
	}
	if err == nil && len(events) > 0 {
		err = postgres.BatchExec(w.q.InsertClusterEvents(ctx, events).Exec)
	}
	if err == nil && len(gone) > 0 {
		err = w.q.DeleteClusters(ctx, gone)
	}
	return err
}

// description returns the new description of a cluster. The label may change only while the cluster is small, because
// users soon know a cluster by its label.
func (w *clusterWriter) description(
	old IssuesCluster, count db.CountedClustersRow, sources map[string]int64, sample []AnalyzedIssue,
) (update db.DescribeClustersParams, renamed bool, err error) {
	members := ClusterMembers{
		Label: old.Label, Overview: old.Overview, Issues: int(count.Issues), High: int(count.High), Medium: int(count.Medium), Sample: sample,
	}
	if old.Issues < labelSettles && !old.Titled {
		members.Label = ""
	}
	d, err := w.analysis.Describe(members)
	if err != nil {
		return update, false, err
	}
	encoded, err := postgres.ToJSON(sources)
	if err != nil {
		return update, false, err
	}
	// The counts fit into an int32, because a quota limits the conversations of an organization, and a conversation has
	// few issues.
	update = db.DescribeClustersParams{
		ID: old.ID, Label: d.Label, Icon: d.Icon, Impact: d.Impact, Summary: d.Summary, Sources: encoded,
		Issues: int32(count.Issues), Conversations: int32(count.Conversations), Language: d.Language, Profile: d.Profile,
		Oldest: count.Oldest, Newest: count.Newest,
	}
	if d.Theme != "" {
		update.Theme = &d.Theme
	}
	return update, old.Label != "" && old.Label != d.Label, nil
}
