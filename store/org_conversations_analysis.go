package store

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Analysis finds the clusters of issues. It is a function of what it is given alone: it runs while a transaction is open.
type Analysis func(issues []AnalyzedIssue) ([]IssueGroup, error)

// AnalyzedIssue is an issue as an Analysis sees it.
type AnalyzedIssue struct {
	ID string
	// Key says which issue it is by what the source said alone.
	Key     string
	Title   string
	Impact  string
	Words   []string
	Cluster string
}

// IssueGroup is a cluster as it should be. Cluster is the id of the one that it goes on to be; empty for a new one.
type IssueGroup struct {
	Cluster string
	Label   string
	Icon    string
	Impact  string
	// Summary is JSON.
	Summary []byte
	// Issues are indexes of the issues that the Analysis was given.
	Issues []int
}

// AnalyzeConversations brings an organization's clusters up to date with its newest `most` issues. One analysis of an
// organization runs at a time; another one is refused.
func (s *Store) AnalyzeConversations(ctx context.Context, organizationID string, most int, analyze Analysis) error {
	return s.inTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		return analyzeOnce(ctx, tx, q, organizationID, most, analyze)
	})
}

// analysisRuns refuses a second analysis.
const analysisRuns = "another analysis of these conversations is running"

func analyzeOnce(ctx context.Context, tx pgx.Tx, q *db.Queries, organizationID string, most int, analyze Analysis) error {
	var mine bool
	err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock(hashtextextended('analysis ' || $1, 0))", organizationID).Scan(&mine)
	if err != nil {
		return err
	}
	if !mine {
		return schema.Conflict(analysisRuns)
	}
	// First what is to be marked, then the issues: whatever comes in between is analyzed now and again next time.
	fresh, err := q.UnprocessedConversations(ctx, organizationID)
	if err != nil || len(fresh) == 0 {
		return err
	}
	rows, err := q.NewestIssues(ctx, db.NewestIssuesParams{
		OrganizationID: organizationID, Most: int32(most), //nolint:gosec // A constant of package api.
	})
	if err != nil {
		return err
	}
	clusters, err := q.ClustersOfOrganization(ctx, organizationID)
	if err != nil {
		return err
	}
	issues := make([]AnalyzedIssue, len(rows))
	for i, row := range rows {
		issues[i] = AnalyzedIssue{
			ID: row.ID, Key: fmt.Sprintf("%s %q %03d", row.Source, row.SourceID, row.Position), Title: row.Title, Impact: row.Impact,
			Words: row.Words, Cluster: deref(row.ClusterID),
		}
	}
	groups, err := analyze(issues)
	if err != nil {
		return err
	}
	// Until here nothing was locked but the right to analyze. Ingests that have begun end first; the others wait.
	if err := ownAnalysis(ctx, tx, organizationID); err != nil {
		return err
	}
	w := clusterWriter{q: q, organizationID: organizationID, now: time.Now(), rows: rows, gone: map[string]db.IssuesCluster{}}
	for _, c := range clusters {
		w.gone[c.ID] = c
	}
	if err := w.write(ctx, groups); err != nil {
		return err
	}
	if len(rows) == most {
		last := rows[len(rows)-1]
		err := q.ReleaseIssuesBefore(ctx, db.ReleaseIssuesBeforeParams{
			OrganizationID: organizationID, CreatedAt: last.CreatedAt, ID: last.ID,
		})
		if err != nil {
			return err
		}
	}
	return q.MarkConversationsProcessed(ctx, markParams(fresh, w.now))
}

func markParams(fresh []db.UnprocessedConversationsRow, now time.Time) db.MarkConversationsProcessedParams {
	marks := db.MarkConversationsProcessedParams{Now: now}
	for _, row := range fresh {
		marks.Ids, marks.Versions = append(marks.Ids, row.ID), append(marks.Versions, row.Version)
	}
	return marks
}

// clusterWriter writes what has changed, and nothing else, so that updated_at says when a cluster changed.
type clusterWriter struct {
	q              *db.Queries
	organizationID string
	now            time.Time
	rows           []db.NewestIssuesRow
	// gone are the clusters that no group goes on as; write takes them out one by one.
	gone  map[string]db.IssuesCluster
	moves db.MoveIssuesParams
	// upserts come before the moves, which refer to them.
	upserts []db.UpsertClustersParams
}

func (w *clusterWriter) write(ctx context.Context, groups []IssueGroup) error {
	for _, g := range groups {
		if err := w.writeGroup(g); err != nil {
			return err
		}
	}
	if len(w.upserts) > 0 {
		if err := batchExec(w.q.UpsertClusters(ctx, w.upserts).Exec); err != nil {
			return err
		}
	}
	if len(w.moves.Ids) > 0 {
		if err := w.q.MoveIssues(ctx, w.moves); err != nil {
			return err
		}
	}
	var gone []string
	for id := range w.gone {
		gone = append(gone, id)
	}
	if len(gone) == 0 {
		return nil
	}
	return w.q.DeleteClusters(ctx, gone)
}

func (w *clusterWriter) writeGroup(g IssueGroup) error {
	old, known := w.gone[g.Cluster]
	delete(w.gone, g.Cluster)
	id := g.Cluster
	if !known {
		id = schema.NewID()
	}
	changed := !known
	conversations := map[string]string{}
	for _, i := range g.Issues {
		row := w.rows[i]
		conversations[row.ConversationID] = row.Source
		if deref(row.ClusterID) != id {
			w.moves.Ids, w.moves.Clusters = append(w.moves.Ids, row.ID), append(w.moves.Clusters, id)
			changed = true
		}
	}
	sources := map[string]int{}
	for source := range maps.Values(conversations) {
		sources[source]++
	}
	encoded, err := toJSON(sources)
	if err != nil {
		return err
	}
	//nolint:gosec // Counts of a bounded number of issues.
	want := db.UpsertClustersParams{
		ID: id, OrganizationID: w.organizationID, Label: g.Label, Icon: g.Icon, Impact: g.Impact, Summary: g.Summary,
		Sources: encoded, Issues: int32(len(g.Issues)), Conversations: int32(len(conversations)), Now: w.now,
	}
	changed = changed || old.Label != want.Label || old.Icon != want.Icon || old.Impact != want.Impact ||
		old.Issues != want.Issues || old.Conversations != want.Conversations ||
		!sameJSON(old.Summary, want.Summary) || !sameJSON(old.Sources, want.Sources)
	if !changed {
		return nil
	}
	w.upserts = append(w.upserts, want)
	return nil
}

// sameJSON compares values, not how they are written: Postgres writes JSON its own way.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// shareAnalysis and ownAnalysis keep the writing of conversations and the writing of clusters apart: both change issues,
// in orders that could make them wait for each other in a circle.
func shareAnalysis(ctx context.Context, tx pgx.Tx, organizationID string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock_shared(hashtextextended('issues ' || $1, 0))", organizationID)
	return err
}

func ownAnalysis(ctx context.Context, tx pgx.Tx, organizationID string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('issues ' || $1, 0))", organizationID)
	return err
}
