package issues

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Analysis decides which issues belong to which clusters. Its methods run while a transaction is open, so they compute
// their results only from the arguments of this call and earlier calls. Each round uses a new Analysis.
type Analysis interface {
	// Meaning returns the meaning of a text, or nil if it is unknown. Assign and Describe compare meanings.
	Meaning(text string) []byte
	// Assign groups issues that are about the same problem, and chooses an existing cluster or a new one for each
	// group.
	Assign(clusters []KnownCluster, issues []AnalyzedIssue) ([]IssueGroup, error)
	// Describe returns the description of a cluster with these members.
	Describe(cluster ClusterMembers) (ClusterDescription, error)
}

// KnownCluster is an existing cluster. Profile is the JSON that an earlier Analysis returned in ClusterDescription.
type KnownCluster struct {
	ID       string
	Language string
	Profile  []byte
	// Rests is true if the cluster also has issues that are not passed to Assign.
	Rests bool
}

// AnalyzedIssue is an issue in the form that an Analysis receives.
type AnalyzedIssue struct {
	// Key identifies the issue by ids of its source, so that it is the same in every installation.
	Key      string
	Title    string
	Words    []string
	Language string
	Meaning  []byte
	// Cluster is the id of the issue's cluster. It is "" if the issue has no cluster yet.
	Cluster string
}

// IssueGroup has issues about the same problem. Issues and Clusters are indexes of the arguments of Assign. The
// issues now belong to the cluster in Clusters. If Clusters is empty, the group becomes a new cluster. If Clusters
// has several elements, the other clusters are merged into the first. A cluster whose Rests is false is in exactly
// one group.
type IssueGroup struct {
	Clusters []int
	Issues   []int
}

// ClusterMembers describes the issues of a cluster. Label is the cluster's current label, or "" for a new cluster.
// Overview is a language model's text about the cluster, or "". Sample is a limited number of the cluster's issues.
type ClusterMembers struct {
	Label        string
	Overview     string
	Issues       int
	High, Medium int
	Sample       []AnalyzedIssue
}

// ClusterDescription is the description of a cluster that users see. Summary and Profile are JSON.
type ClusterDescription struct {
	Label, Icon, Impact, Language string
	// Theme is "" if the cluster has no theme.
	Theme   string
	Summary []byte
	Profile []byte
}

const (
	// analysisRound is the largest number of conversations that are analyzed in one transaction. It limits the memory
	// for texts.
	analysisRound = 1000
	// analysisWindow is the number of latest issues of earlier rounds that a round may move to other clusters.
	analysisWindow = 1000
	// clusterSample is the largest number of issues that are used to describe a cluster.
	clusterSample = 64
	// labelSettles is a number of issues. The label of a cluster with at least this number of issues no longer changes.
	labelSettles = 4
)

// Each constant is a reason that users read in the history of a cluster.
const (
	reasonFounded = "Founded the cluster: no other was alike enough."
	reasonAlike   = "Is about the same as the issues of the cluster."
	reasonEqual   = "Says the same as an issue of the cluster."
	reasonMoved   = "Is more like the issues of this cluster than like those of the one that it was in."
	reasonLeft    = "Is more like the issues of another cluster."
	reasonMerged  = "Its cluster %q was merged into this one: both had become alike."
	reasonRenamed = "More issues show better what the cluster is about."
)

// AnalyzeConversations updates an organization's clusters with the conversations since the last analysis. It works in
// rounds. If the analysis is interrupted, the finished rounds stay. If another analysis of the organization is running,
// AnalyzeConversations returns a conflict.
func (s *Store) AnalyzeConversations(ctx context.Context, organizationID string, analysis func() Analysis) error {
	for {
		var more bool
		err := s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
			var err error
			more, err = analyzeRound(ctx, tx, q, organizationID, analysis())
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

// analysisRuns is the error message for a second analysis.
const analysisRuns = "another analysis of these conversations is running"

// analyzeRound analyzes one round of conversations, and reports whether more conversations are left.
func analyzeRound(ctx context.Context, tx pgx.Tx, q *db.Queries, organizationID string, analysis Analysis) (bool, error) {
	var mine bool
	err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock(hashtextextended('analysis ' || $1, 0))", organizationID).Scan(&mine)
	if err != nil {
		return false, err
	}
	if !mine {
		return false, schema.Conflict(analysisRuns)
	}
	w := clusterWriter{q: q, organizationID: organizationID, now: time.Now(), analysis: analysis}
	// The conversations that will be marked as analyzed are read before the issues. So a conversation that arrives
	// between the two reads is not marked, and is analyzed again in the next round.
	fresh, err := q.UnprocessedConversations(ctx, db.UnprocessedConversationsParams{OrganizationID: organizationID, Most: analysisRound})
	if err != nil {
		return false, err
	}
	stale, err := q.StaleClusters(ctx, db.StaleClustersParams{OrganizationID: organizationID, Most: analysisRound})
	if err != nil || len(fresh) == 0 && len(stale) == 0 {
		return false, err
	}
	if err := w.read(ctx, fresh); err != nil {
		return false, err
	}
	// Until here, the transaction holds only the lock against a second analysis. ownAnalysis waits for transactions
	// that are storing conversations. Transactions that start to store conversations later wait for this transaction.
	if err := ownAnalysis(ctx, tx, organizationID); err != nil {
		return false, err
	}
	if err := w.write(ctx, stale); err != nil {
		return false, err
	}
	return true, q.MarkConversationsProcessed(ctx, markParams(fresh, w.now))
}

func markParams(fresh []db.UnprocessedConversationsRow, now time.Time) db.MarkConversationsProcessedParams {
	marks := db.MarkConversationsProcessedParams{Now: now}
	for _, row := range fresh {
		marks.Ids, marks.Versions = append(marks.Ids, row.ID), append(marks.Versions, row.Version)
	}
	return marks
}

// clusterWriter collects the decisions of a round, and writes them to the database.
type clusterWriter struct {
	q              *db.Queries
	organizationID string
	now            time.Time
	analysis       Analysis

	founded  []string
	meanings db.SaveMeaningsParams
	moves    db.MoveIssuesParams
	merges   []mergedCluster
	touched  map[string]bool
}

type mergedCluster struct{ from, into string }

// read lets the Analysis group the issues of new conversations and the latest issues of clusters. It takes no locks.
func (w *clusterWriter) read(ctx context.Context, fresh []db.UnprocessedConversationsRow) error {
	w.touched = map[string]bool{}
	ids := make([]string, len(fresh))
	for i, row := range fresh {
		ids[i] = row.ID
	}
	rows, err := w.q.UnclusteredIssues(ctx, ids)
	if err != nil || len(rows) == 0 {
		return err
	}
	recent, err := w.q.RecentIssues(ctx, db.RecentIssuesParams{OrganizationID: w.organizationID, Most: analysisWindow})
	if err != nil {
		return err
	}
	var all, twins []db.RecentIssuesRow
	for _, row := range rows {
		one := db.RecentIssuesRow{
			ID: row.ID, Words: row.Words, Language: row.Language, Fingerprint: row.Fingerprint, Meaning: row.Meaning, Summary: row.Summary,
			Subject: row.Subject, Source: row.Source, SourceID: row.SourceID, Position: row.Position, Cluster: row.TwinCluster,
		}
		if err := w.understand(ctx, &one); err != nil {
			return err
		}
		if row.TwinCluster != "" {
			twins = append(twins, one)
		} else {
			all = append(all, one)
		}
	}
	in := map[string]int32{}
	for _, row := range recent {
		if err := w.understand(ctx, &row); err != nil {
			return err
		}
		in[row.Cluster]++
		all = append(all, row)
	}
	issues := make([]AnalyzedIssue, len(all))
	for i := range all {
		issues[i] = AnalyzedIssue{
			Key: fmt.Sprintf("%s %q %03d", all[i].Source, all[i].SourceID, all[i].Position), Words: all[i].Words, Language: all[i].Language,
			Meaning: all[i].Meaning, Cluster: all[i].Cluster,
		}
	}
	profiles, err := w.q.ClusterProfiles(ctx, w.organizationID)
	if err != nil {
		return err
	}
	clusters := make([]KnownCluster, len(profiles))
	for i, p := range profiles {
		clusters[i] = KnownCluster{ID: p.ID, Language: p.Language, Profile: p.Profile, Rests: p.Issues > in[p.ID]}
	}
	groups, err := w.analysis.Assign(clusters, issues)
	if err != nil {
		return err
	}
	for _, g := range groups {
		w.decide(g, clusters, all)
	}
	// Issues with the same words always belong to the same cluster.
	gone := map[string]string{}
	for i, fingerprint := range w.moves.Fingerprints {
		gone[fingerprint] = w.moves.Clusters[i]
	}
	for _, twin := range twins {
		cluster := cmp.Or(gone[twin.Fingerprint], twin.Cluster)
		twin.Cluster = ""
		w.move(twin, cluster, reasonEqual)
	}
	return nil
}

// understand sets the meaning of an issue whose meaning is not stored yet.
func (w *clusterWriter) understand(ctx context.Context, row *db.RecentIssuesRow) error {
	if row.Meaning != nil {
		return nil
	}
	text := row.Summary
	if row.Subject != nil && row.Position == 0 {
		text = *row.Subject + ".\n" + text
	}
	if row.Meaning = w.analysis.Meaning(text); row.Meaning != nil {
		w.meanings.Ids, w.meanings.Fingerprints = append(w.meanings.Ids, row.ID), append(w.meanings.Fingerprints, row.Fingerprint)
		w.meanings.Meanings = append(w.meanings.Meanings, row.Meaning)
	}
	return ctx.Err()
}

func (w *clusterWriter) decide(g IssueGroup, clusters []KnownCluster, rows []db.RecentIssuesRow) {
	var id string
	reason := reasonAlike
	merged := map[string]bool{}
	if len(g.Clusters) == 0 {
		id = schema.NewID()
		w.founded = append(w.founded, id)
		reason = reasonFounded
	} else {
		id = clusters[g.Clusters[0]].ID
		for _, other := range g.Clusters[1:] {
			w.merges = append(w.merges, mergedCluster{clusters[other].ID, id})
			merged[clusters[other].ID] = true
		}
	}
	for _, i := range g.Issues {
		switch row := rows[i]; {
		case row.Cluster == id || merged[row.Cluster]:
		case row.Cluster != "":
			w.move(row, id, reasonMoved)
		default:
			w.move(row, id, reason)
			reason = reasonAlike
		}
	}
}

func (w *clusterWriter) move(row db.RecentIssuesRow, cluster, reason string) {
	w.touched[cluster] = true
	if row.Cluster != "" {
		w.touched[row.Cluster] = true
	}
	w.moves.Ids, w.moves.Fingerprints = append(w.moves.Ids, row.ID), append(w.moves.Fingerprints, row.Fingerprint)
	w.moves.Clusters, w.moves.LeftClusters = append(w.moves.Clusters, cluster), append(w.moves.LeftClusters, row.Cluster)
	w.moves.Events, w.moves.Reasons = append(w.moves.Events, schema.NewID()), append(w.moves.Reasons, reason)
}

// write stores the decisions. It also describes every cluster again that an issue has joined or left.
func (w *clusterWriter) write(ctx context.Context, stale []string) error {
	if len(w.founded) > 0 {
		err := w.q.FoundClusters(ctx, db.FoundClustersParams{Ids: w.founded, OrganizationID: w.organizationID, Now: w.now})
		if err != nil {
			return err
		}
	}
	if len(w.meanings.Ids) > 0 {
		if err := w.q.SaveMeanings(ctx, w.meanings); err != nil {
			return err
		}
	}
	if len(w.moves.Ids) > 0 {
		w.moves.Now, w.moves.ReasonLeft = w.now, reasonLeft
		if err := w.q.MoveIssues(ctx, w.moves); err != nil {
			return err
		}
	}
	for _, id := range stale {
		w.touched[id] = true
	}
	if err := w.merge(ctx); err != nil {
		return err
	}
	return w.describe(ctx, slices.Sorted(maps.Keys(w.touched)))
}

func (w *clusterWriter) merge(ctx context.Context) error {
	var gone []string
	var events []db.InsertClusterEventsParams
	into := map[string]string{}
	for _, m := range w.merges {
		rows, err := w.q.ClustersByIDs(ctx, []string{m.from})
		if err != nil || len(rows) == 0 {
			return err
		}
		reason := fmt.Sprintf(reasonMerged, rows[0].Label)
		events = append(events, db.InsertClusterEventsParams{
			ID: schema.NewID(), OrganizationID: w.organizationID, ClusterID: m.into, Kind: schema.ClusterMerged, Title: rows[0].Label,
			Reason: "Both had become alike.", CreatedAt: w.now,
		})
		err = w.q.MergeCluster(ctx, db.MergeClusterParams{
			IntoCluster: m.into, FromCluster: m.from, Prefix: schema.NewID() + "-", Reason: reason, Now: w.now,
		})
		if err != nil {
			return err
		}
		gone = append(gone, m.from)
		into[m.from] = m.into
		w.touched[m.into] = true
		delete(w.touched, m.from)
	}
	if len(gone) == 0 {
		return nil
	}
	if err := postgres.BatchExec(w.q.InsertClusterEvents(ctx, events).Exec); err != nil {
		return err
	}
	merged, err := postgres.ToJSON(into)
	if err != nil {
		return err
	}
	if err := w.q.TellMergedClusters(ctx, string(merged)); err != nil {
		return err
	}
	return w.q.DeleteClusters(ctx, gone)
}

// shareAnalysis and ownAnalysis take the same lock, shared and exclusive. Transactions that store conversations call
// shareAnalysis, and transactions that write clusters call ownAnalysis. Both kinds change issues in different orders,
// so without the lock they could deadlock.
func shareAnalysis(ctx context.Context, tx pgx.Tx, organizationID string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock_shared(hashtextextended('issues ' || $1, 0))", organizationID)
	return err
}

func ownAnalysis(ctx context.Context, tx pgx.Tx, organizationID string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('issues ' || $1, 0))", organizationID)
	return err
}
