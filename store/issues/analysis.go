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

// Analysis finds the clusters of issues. Its methods are functions of what they are given and were given before: they run while a
// transaction is open. One is made for each round of an analysis.
type Analysis interface {
	// Meaning is what a text means, for Assign and Describe to compare; nil if the analysis does not know.
	Meaning(text string) []byte
	// Assign groups issues with each other and with the clusters that there are.
	Assign(clusters []KnownCluster, issues []AnalyzedIssue) ([]IssueGroup, error)
	// Describe says what a cluster is about.
	Describe(cluster ClusterMembers) (ClusterDescription, error)
}

// KnownCluster is a cluster as an Analysis described it. Profile is JSON.
type KnownCluster struct {
	ID       string
	Language string
	Profile  []byte
	// Rests is whether it has issues that are not among those that Assign is given.
	Rests bool
}

// AnalyzedIssue is an issue as an Analysis sees it.
type AnalyzedIssue struct {
	// Key says which issue it is by what the source said alone.
	Key      string
	Title    string
	Words    []string
	Language string
	Meaning  []byte
	// Cluster is the id of the one that it is in; empty if it is in none yet.
	Cluster string
}

// IssueGroup is issues about the same thing, as indexes of what the Analysis was given. Clusters are those that they are in from now
// on: none founds a new cluster, and of several the first takes in the others. A cluster that does not rest is in one group.
type IssueGroup struct {
	Clusters []int
	Issues   []int
}

// ClusterMembers is what a cluster has. Label is the one that it has; empty for a new one. Overview is what a language model wrote about
// it, if one did. Sample is a bounded number of its issues.
type ClusterMembers struct {
	Label        string
	Overview     string
	Issues       int
	High, Medium int
	Sample       []AnalyzedIssue
}

// ClusterDescription is what a cluster shows. Summary and Profile are JSON.
type ClusterDescription struct {
	Label, Icon, Impact, Language string
	// Theme is empty if there is none.
	Theme   string
	Summary []byte
	Profile []byte
}

const (
	// analysisRound bounds the conversations that are analyzed in one transaction, and so the texts in memory.
	analysisRound = 1000
	// analysisWindow bounds the issues of earlier rounds that a round may move: the latest.
	analysisWindow = 1000
	// clusterSample bounds the issues by which a cluster is described.
	clusterSample = 64
	// labelSettles is the number of issues from which on a cluster keeps its label.
	labelSettles = 4
)

// The reasons in the history of clusters.
const (
	reasonFounded = "Founded the cluster: no other was alike enough."
	reasonAlike   = "Is about the same as the issues of the cluster."
	reasonEqual   = "Says the same as an issue of the cluster."
	reasonMoved   = "Is more like the issues of this cluster than like those of the one that it was in."
	reasonLeft    = "Is more like the issues of another cluster."
	reasonMerged  = "Its cluster %q was merged into this one: both had become alike."
	reasonRenamed = "More issues show better what the cluster is about."
)

// AnalyzeConversations brings an organization's clusters up to date with the conversations that came in since the last time, in
// rounds. One analysis of an organization runs at a time; another one is refused. What an interrupted one has done stays.
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

// analysisRuns refuses a second analysis.
const analysisRuns = "another analysis of these conversations is running"

// analyzeRound reports whether there is more to do.
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
	// First what is to be marked, then the issues: whatever comes in between is analyzed now and again next time.
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
	// Until here nothing was locked but the right to analyze. Ingests that have begun end first; the others wait.
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

// clusterWriter carries what one round decides from the analysis to the database.
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

// read has the issues of conversations grouped, with the latest of those that are in clusters. It takes no locks.
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
	// What says the same as an issue follows it, wherever that goes.
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

// understand finds out what an issue means, if that is not known yet.
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

// write carries out what was decided, and describes every cluster that something came to or left.
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
