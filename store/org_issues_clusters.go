package store

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// IssuesCluster is a row of its table.
type IssuesCluster = db.IssuesCluster

// ClusterOrder is how clusters can be ordered: after the keys of a cluster come those whose keys are further on.
type ClusterOrder struct {
	list func(ctx context.Context, q *db.Queries, organizationID, key, after string, size int32) ([]IssuesCluster, error)
	// Key is the sort key of a cluster, as a page token holds it.
	Key func(c IssuesCluster) string
	// first stands before the first cluster.
	firstKey, firstID string
}

// ClusterOrderBy finds the order by one of schema.ClusterOrders. Octavo counts no tasks, so by their counts all clusters are
// equal and the id decides.
func ClusterOrderBy(orderBy string, descending bool) ClusterOrder {
	rows := clusterOrders[orderBy]
	if rows == nil {
		rows = clusterOrders["id"]
	}
	if descending {
		return rows[1]
	}
	return rows[0]
}

// lastID is after every id: ids hold no such character.
const lastID = "~"

// clusterOrders has for every order its ascending and its descending form.
var clusterOrders = map[string]*[2]ClusterOrder{
	"updatedAt": {
		byTime(time.Time{}, "", func(q *db.Queries, ctx context.Context, p db.ListClustersByUpdateAscParams) ([]IssuesCluster, error) {
			return q.ListClustersByUpdateAsc(ctx, p)
		}),
		byTime(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), lastID,
			func(q *db.Queries, ctx context.Context, p db.ListClustersByUpdateAscParams) ([]IssuesCluster, error) {
				return q.ListClustersByUpdateDesc(ctx, db.ListClustersByUpdateDescParams(p))
			}),
	},
	"issues": byCount(func(c IssuesCluster) int32 { return c.Issues },
		(*db.Queries).ListClustersByIssuesAsc,
		func(q *db.Queries, ctx context.Context, p db.ListClustersByIssuesAscParams) ([]IssuesCluster, error) {
			return q.ListClustersByIssuesDesc(ctx, db.ListClustersByIssuesDescParams(p))
		}),
	"conversations": byCount(func(c IssuesCluster) int32 { return c.Conversations },
		func(q *db.Queries, ctx context.Context, p db.ListClustersByIssuesAscParams) ([]IssuesCluster, error) {
			return q.ListClustersByConversationsAsc(ctx, db.ListClustersByConversationsAscParams(p))
		},
		func(q *db.Queries, ctx context.Context, p db.ListClustersByIssuesAscParams) ([]IssuesCluster, error) {
			return q.ListClustersByConversationsDesc(ctx, db.ListClustersByConversationsDescParams(p))
		}),
	"id": {
		{firstID: "", Key: noKey, list: func(ctx context.Context, q *db.Queries, organizationID, _, after string, size int32) ([]IssuesCluster, error) {
			return q.ListClustersByIDAsc(ctx, db.ListClustersByIDAscParams{OrganizationID: organizationID, After: after, PageSize: size})
		}},
		{firstID: lastID, Key: noKey, list: func(ctx context.Context, q *db.Queries, organizationID, _, after string, size int32) ([]IssuesCluster, error) {
			return q.ListClustersByIDDesc(ctx, db.ListClustersByIDDescParams{OrganizationID: organizationID, After: after, PageSize: size})
		}},
	},
}

func noKey(IssuesCluster) string { return "" }

func byTime(
	first time.Time, firstID string,
	list func(q *db.Queries, ctx context.Context, p db.ListClustersByUpdateAscParams) ([]IssuesCluster, error),
) ClusterOrder {
	return ClusterOrder{
		firstKey: first.Format(time.RFC3339Nano), firstID: firstID,
		Key: func(c IssuesCluster) string { return c.UpdatedAt.UTC().Format(time.RFC3339Nano) },
		list: func(ctx context.Context, q *db.Queries, organizationID, key, after string, size int32) ([]IssuesCluster, error) {
			at, err := time.Parse(time.RFC3339Nano, key)
			if err != nil {
				return nil, schema.Invalid("page", "is not a page of this list")
			}
			return list(q, ctx, db.ListClustersByUpdateAscParams{
				OrganizationID: organizationID, AfterKey: at, After: after, PageSize: size,
			})
		},
	}
}

func byCount(
	count func(c IssuesCluster) int32,
	lists ...func(q *db.Queries, ctx context.Context, p db.ListClustersByIssuesAscParams) ([]IssuesCluster, error),
) *[2]ClusterOrder {
	var orders [2]ClusterOrder
	for i, list := range lists {
		orders[i] = ClusterOrder{
			Key: func(c IssuesCluster) string { return strconv.Itoa(int(count(c))) },
			list: func(ctx context.Context, q *db.Queries, organizationID, key, after string, size int32) ([]IssuesCluster, error) {
				n, err := strconv.ParseInt(key, 10, 32)
				if err != nil {
					return nil, schema.Invalid("page", "is not a page of this list")
				}
				return list(q, ctx, db.ListClustersByIssuesAscParams{
					OrganizationID: organizationID, AfterKey: int32(n), After: after, PageSize: size,
				})
			},
		}
	}
	orders[0].firstKey, orders[0].firstID = "-1", ""
	orders[1].firstKey, orders[1].firstID = strconv.Itoa(math.MaxInt32), lastID
	return &orders
}

// ClusterRow is a cluster with the number of its issues in each of the last weeks, the oldest first.
type ClusterRow struct {
	Cluster IssuesCluster
	Pulse   [schema.PulseWeeks]int
}

// ListClusters lists an organization's clusters after the cluster with the sort key and the id in `after`, which is nil for
// the first page.
func (s *Store) ListClusters(
	ctx context.Context, organizationID string, order ClusterOrder, now time.Time, after []string, size int,
) (Page[ClusterRow], error) {
	key, id := order.firstKey, order.firstID
	if after != nil {
		key, id = after[0], after[1]
	}
	total, err := s.queries.CountClusters(ctx, organizationID)
	if err != nil {
		return Page[ClusterRow]{}, interpret(err, "clusters")
	}
	rows, err := order.list(ctx, s.queries, organizationID, key, id, pageSize(size))
	if err != nil {
		return Page[ClusterRow]{}, interpret(err, "clusters")
	}
	clusters := pageOf(rows, size, total)
	pulsed, err := s.withPulses(ctx, now, clusters.Rows...)
	return Page[ClusterRow]{Rows: pulsed, Total: clusters.Total, More: clusters.More}, err
}

// Cluster reads a cluster of an organization.
func (s *Store) Cluster(ctx context.Context, organizationID, id string, now time.Time) (ClusterRow, error) {
	row, err := s.queries.ClusterByID(ctx, db.ClusterByIDParams{ID: id, OrganizationID: organizationID})
	return s.withPulse(ctx, now, row, err)
}

// MuteCluster sets whether a cluster is muted.
func (s *Store) MuteCluster(ctx context.Context, organizationID, id string, muted bool, now time.Time) (ClusterRow, error) {
	row, err := s.queries.MuteCluster(ctx, db.MuteClusterParams{ID: id, OrganizationID: organizationID, Muted: muted})
	return s.withPulse(ctx, now, row, err)
}

func (s *Store) withPulse(ctx context.Context, now time.Time, row IssuesCluster, err error) (ClusterRow, error) {
	if err != nil {
		return ClusterRow{}, interpret(err, "cluster")
	}
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
		// Week 0 is the newest and stands last.
		rows[at[orEmpty(week.ClusterID)]].Pulse[schema.PulseWeeks-1-week.Week] = int(week.Issues)
	}
	return rows, nil
}
