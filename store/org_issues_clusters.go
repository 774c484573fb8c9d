package store

import (
	"context"
	"math"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// IssuesCluster is a row of its table.
type IssuesCluster = db.IssuesCluster

// ClusterOrder is how clusters are listed: By is one of schema.ClusterOrders.
type ClusterOrder struct {
	By        string
	Ascending bool
}

// Keys are the place of a cluster in a list with this order, as the sort keys of a page token.
func (o ClusterOrder) Keys(c IssuesCluster) []string {
	if o.By == "updatedAt" {
		return Cursor[time.Time]{c.UpdatedAt, c.ID}.Keys()
	}
	return Cursor[int64]{map[string]int64{"issues": int64(c.Issues), "conversations": int64(c.Conversations)}[o.By], c.ID}.Keys()
}

// lastID is after every id: ids hold no such character.
const lastID = "~"

// after gives where the list goes on after the keys, which are nil for the first page.
func (o ClusterOrder) after(keys []string) (db.ListClustersParams, error) {
	from := db.ListClustersParams{OrderBy: o.By, Ascending: o.Ascending, AfterTime: beginOfTime, AfterCount: -1}
	if !o.Ascending {
		from.AfterTime, from.AfterCount, from.After = endOfTime, math.MaxInt32, lastID
	}
	switch {
	case keys == nil:
	case o.By == "updatedAt":
		cursor, err := ParseCursor[time.Time](keys)
		if err != nil {
			return from, err
		}
		from.AfterTime, from.After = cursor.Key, cursor.ID
	default:
		cursor, err := ParseCursor[int64](keys)
		if err != nil {
			return from, err
		}
		from.AfterCount, from.After = cursor.Key, cursor.ID
	}
	return from, nil
}

// ClusterEvent is a row of the history of a cluster.
type ClusterEvent = db.IssuesClusterEvent

// ClusterRow is a cluster with the number of its issues in each of the last weeks, the oldest first, and its newest change
// requests.
type ClusterRow struct {
	Cluster  IssuesCluster
	Pulse    [schema.PulseWeeks]int
	Requests []db.RequestsOfClustersRow
}

// ListClusters lists an organization's clusters after the one with these keys, which are nil for the first page.
func (s *Store) ListClusters(
	ctx context.Context, organizationID string, order ClusterOrder, now time.Time, after []string, size int,
) (Page[ClusterRow], error) {
	params, err := order.after(after)
	if err != nil {
		return Page[ClusterRow]{}, err
	}
	params.OrganizationID, params.PageSize = organizationID, pageSize(size)
	total, err := s.queries.CountClusters(ctx, organizationID)
	if err != nil {
		return Page[ClusterRow]{}, interpret(err, "clusters")
	}
	rows, err := s.planned.ListClusters(ctx, params)
	if err != nil {
		return Page[ClusterRow]{}, interpret(err, "clusters")
	}
	clusters := pageOf(rows, size, total)
	pulsed, err := s.withPulses(ctx, now, clusters.Rows...)
	if err != nil {
		return Page[ClusterRow]{}, err
	}
	return Page[ClusterRow]{Rows: pulsed, Total: clusters.Total, More: clusters.More}, nil
}

// Cluster reads a cluster of an organization.
func (s *Store) Cluster(ctx context.Context, organizationID, id string, now time.Time) (ClusterRow, error) {
	row, err := s.queries.ClusterByID(ctx, db.ClusterByIDParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return ClusterRow{}, interpret(err, "cluster")
	}
	return s.withPulse(ctx, now, row)
}

// MuteCluster sets whether a cluster is muted.
func (s *Store) MuteCluster(ctx context.Context, organizationID, id string, muted bool, now time.Time) (ClusterRow, error) {
	row, err := s.queries.MuteCluster(ctx, db.MuteClusterParams{ID: id, OrganizationID: organizationID, Muted: muted})
	if err != nil {
		return ClusterRow{}, interpret(err, "cluster")
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
	weeks, err := s.queries.ClusterPulses(ctx, db.ClusterPulsesParams{Now: now, Clusters: ids, Weeks: schema.PulseWeeks})
	if err != nil {
		return nil, interpret(err, "clusters")
	}
	for _, week := range weeks {
		// Week 0 is the newest and comes last.
		rows[at[deref(week.ClusterID)]].Pulse[schema.PulseWeeks-1-week.Week] = int(week.Issues)
	}
	requests, err := s.queries.RequestsOfClusters(ctx, db.RequestsOfClustersParams{
		Clusters: ids, OrganizationID: clusters[0].OrganizationID, Most: schema.ClusterRequests,
	})
	if err != nil {
		return nil, interpret(err, "clusters")
	}
	for _, request := range requests {
		row := &rows[at[deref(request.ClusterID)]]
		row.Requests = append(row.Requests, request)
	}
	return rows, nil
}

// ListClusterEvents lists the history of a cluster of an organization, the oldest first, after the id `after`.
func (s *Store) ListClusterEvents(ctx context.Context, organizationID, id, after string, size int) (Page[ClusterEvent], error) {
	if _, err := s.queries.ClusterByID(ctx, db.ClusterByIDParams{ID: id, OrganizationID: organizationID}); err != nil {
		return Page[ClusterEvent]{}, interpret(err, "cluster")
	}
	total, err := s.queries.CountClusterEvents(ctx, id)
	if err != nil {
		return Page[ClusterEvent]{}, interpret(err, "history")
	}
	rows, err := s.queries.ListClusterEvents(ctx, db.ListClusterEventsParams{ClusterID: id, After: after, PageSize: pageSize(size)})
	if err != nil {
		return Page[ClusterEvent]{}, interpret(err, "history")
	}
	return pageOf(rows, size, total), nil
}
