package issues

import (
	"context"
	"math"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// IssuesCluster is a row of the table issues_clusters.
type IssuesCluster = db.IssuesCluster

// ClusterOrder is the order of a list of clusters. By is a value of schema.ClusterOrders.
type ClusterOrder struct {
	By        string
	Ascending bool
}

// Keys returns the sort keys of a cluster for a page token of a list with this order.
func (o ClusterOrder) Keys(c IssuesCluster) []string {
	if o.By == "updatedAt" {
		return postgres.Cursor[time.Time]{Key: c.UpdatedAt, ID: c.ID}.Keys()
	}
	return postgres.Cursor[int64]{
		Key: map[string]int64{"issues": int64(c.Issues), "conversations": int64(c.Conversations)}[o.By], ID: c.ID,
	}.Keys()
}

// after returns the parameters of the list that continues after the sort keys. If `keys` is nil, they are for the first
// page.
func (o ClusterOrder) after(keys []string) (db.ListClustersParams, error) {
	from := db.ListClustersParams{
		OrderBy: o.By, Ascending: o.Ascending, AfterTime: postgres.BeginOfTime, AfterCount: -1,
	}
	if !o.Ascending {
		from.AfterTime, from.AfterCount, from.After = postgres.EndOfTime, math.MaxInt32, postgres.LastID
	}
	switch {
	case keys == nil:
	case o.By == "updatedAt":
		cursor, err := postgres.ParseCursor[time.Time](keys)
		if err != nil {
			return from, err
		}
		from.AfterTime, from.After = cursor.Key, cursor.ID
	default:
		cursor, err := postgres.ParseCursor[int64](keys)
		if err != nil {
			return from, err
		}
		from.AfterCount, from.After = cursor.Key, cursor.ID
	}
	return from, nil
}

// ClusterEvent is a row of the table issues_cluster_events: an entry in the history of a cluster.
type ClusterEvent = db.IssuesClusterEvent

// ClusterRow is a cluster with its newest change requests. Pulse has the number of the cluster's new issues in each of
// the last weeks, the oldest week first.
type ClusterRow struct {
	Cluster  IssuesCluster
	Pulse    [schema.PulseWeeks]int
	Requests []db.RequestsOfClustersRow
}

// ListClusters lists an organization's clusters. `after` has the sort keys of the previous page's last cluster, or is
// nil for the first page.
func (s *Store) ListClusters(
	ctx context.Context, organizationID string, order ClusterOrder, now time.Time, after []string, size int,
) (postgres.Page[ClusterRow], error) {
	params, err := order.after(after)
	if err != nil {
		return postgres.Page[ClusterRow]{}, err
	}
	params.OrganizationID, params.PageSize = organizationID, postgres.PageSize(size)
	total, err := s.db.Queries.CountClusters(ctx, organizationID)
	if err != nil {
		return postgres.Page[ClusterRow]{}, postgres.Interpret(err, "clusters")
	}
	rows, err := s.db.Planned.ListClusters(ctx, params)
	if err != nil {
		return postgres.Page[ClusterRow]{}, postgres.Interpret(err, "clusters")
	}
	clusters := postgres.PageOf(rows, size, total)
	pulsed, err := s.withPulses(ctx, now, clusters.Rows...)
	if err != nil {
		return postgres.Page[ClusterRow]{}, err
	}
	return postgres.Page[ClusterRow]{Rows: pulsed, Total: clusters.Total, More: clusters.More}, nil
}

// Cluster reads a cluster of an organization.
func (s *Store) Cluster(ctx context.Context, organizationID, id string, now time.Time) (ClusterRow, error) {
	row, err := s.db.Queries.ClusterByID(ctx, db.ClusterByIDParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return ClusterRow{}, postgres.Interpret(err, "cluster")
	}
	return s.withPulse(ctx, now, row)
}

// MuteCluster sets whether a cluster is muted.
func (s *Store) MuteCluster(
	ctx context.Context, organizationID, id string, muted bool, now time.Time,
) (ClusterRow, error) {
	row, err := s.db.Queries.MuteCluster(ctx, db.MuteClusterParams{
		ID: id, OrganizationID: organizationID, Muted: muted,
	})
	if err != nil {
		return ClusterRow{}, postgres.Interpret(err, "cluster")
	}
	return s.withPulse(ctx, now, row)
}

func (s *Store) withPulse(ctx context.Context, now time.Time, row IssuesCluster) (ClusterRow, error) {
	rows, err := s.withPulses(ctx, now, row)
	if err != nil {
		return ClusterRow{}, err
	}
	return rows[0], nil
}

func (s *Store) withPulses(ctx context.Context, now time.Time, clusters ...IssuesCluster) ([]ClusterRow, error) {
	rows := make([]ClusterRow, len(clusters))
	ids := make([]string, len(clusters))
	at := make(map[string]int, len(clusters))
	for i, c := range clusters {
		rows[i].Cluster, ids[i], at[c.ID] = c, c.ID, i
	}
	if len(ids) == 0 {
		return rows, nil
	}
	weeks, err := s.db.Queries.ClusterPulses(ctx, db.ClusterPulsesParams{
		Now: now, Clusters: ids, Weeks: schema.PulseWeeks,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "clusters")
	}
	for _, week := range weeks {
		// week 0 is the newest week, and the last element of Pulse
		rows[at[postgres.Deref(week.ClusterID)]].Pulse[schema.PulseWeeks-1-week.Week] = int(week.Issues)
	}
	requests, err := s.db.Queries.RequestsOfClusters(ctx, db.RequestsOfClustersParams{
		Clusters: ids, OrganizationID: clusters[0].OrganizationID, Most: schema.ClusterRequests,
	})
	if err != nil {
		return nil, postgres.Interpret(err, "clusters")
	}
	for _, request := range requests {
		row := &rows[at[postgres.Deref(request.ClusterID)]]
		row.Requests = append(row.Requests, request)
	}
	return rows, nil
}

// ListClusterEvents lists the history of an organization's cluster, the oldest event first. The list begins after the
// id `after`.
func (s *Store) ListClusterEvents(
	ctx context.Context, organizationID, id, after string, size int,
) (postgres.Page[ClusterEvent], error) {
	if _, err := s.db.Queries.ClusterByID(ctx, db.ClusterByIDParams{
		ID: id, OrganizationID: organizationID,
	}); err != nil {
		return postgres.Page[ClusterEvent]{}, postgres.Interpret(err, "cluster")
	}
	total, err := s.db.Queries.CountClusterEvents(ctx, id)
	if err != nil {
		return postgres.Page[ClusterEvent]{}, postgres.Interpret(err, "history")
	}
	rows, err := s.db.Queries.ListClusterEvents(ctx, db.ListClusterEventsParams{
		ClusterID: id, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ClusterEvent]{}, postgres.Interpret(err, "history")
	}
	return postgres.PageOf(rows, size, total), nil
}
