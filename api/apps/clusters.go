package apps

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/postgres"
)

func clusterOperations(h *conversationResources) []frame.Operation {
	const one = "/orgs/{organizationId}/conversations-clusters/{clusterId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations-clusters", ID: "listConversationsIssuesClusters",
			Tag: "conversations", Doc: "List the clusters of issues that are about the same thing.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listClusters),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getConversationsIssuesCluster", Tag: "conversations",
			Doc: "Read a cluster.", Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.getCluster),
		},
		{
			Method: http.MethodGet, Path: one + "/history", ID: "listConversationsIssuesClusterHistory", Tag: "conversations",
			Doc:   "List why issues came to a cluster and left it, which clusters were merged into it, and its former labels, the oldest first.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listHistory),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateConversationsIssuesCluster", Tag: "conversations",
			Doc:   "Mute a cluster, or take that back.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateCluster),
		},
	}
}

type listClustersRequest struct {
	schema.PageRequest
	Order   *string `query:"order" rules:"enum=order,default=desc"`
	OrderBy *string `query:"orderBy" rules:"enum=clusterOrder,default=updatedAt"`
}

func (h *conversationResources) listClusters(
	ctx context.Context, c *access.Caller, r *listClustersRequest,
) (schema.List[schema.IssuesCluster], error) {
	organization := c.Organization.Organization.ID
	orderBy, direction := schema.Or(r.OrderBy, "updatedAt"), schema.Or(r.Order, "desc")
	order := issues.ClusterOrder{By: orderBy, Ascending: direction == "asc"}
	return frame.ListMade(ctx, fmt.Sprintf("clusters %s %s %s", organization, orderBy, direction), r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[issues.ClusterRow], error) {
			return h.store.Issues.ListClusters(ctx, organization, order, c.Now, after, size)
		},
		h.view.Cluster,
		func(row issues.ClusterRow) []string {
			return order.Keys(row.Cluster)
		})
}

type getClusterRequest struct {
	ID string `path:"clusterId"`
}

func (h *conversationResources) getCluster(ctx context.Context, c *access.Caller, r *getClusterRequest) (schema.IssuesCluster, error) {
	row, err := h.store.Issues.Cluster(ctx, c.Organization.Organization.ID, r.ID, c.Now)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	return h.view.Cluster(row)
}

type listHistoryRequest struct {
	schema.PageRequest
	ID string `path:"clusterId"`
}

func (h *conversationResources) listHistory(
	ctx context.Context, c *access.Caller, r *listHistoryRequest,
) (schema.List[schema.ClusterEvent], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, fmt.Sprintf("history %s %q", organization, r.ID), r.PageRequest,
		func(after string, size int) (postgres.Page[issues.ClusterEvent], error) {
			return h.store.Issues.ListClusterEvents(ctx, organization, r.ID, after, size)
		},
		h.view.ClusterEvent, func(row issues.ClusterEvent) string { return row.ID })
}

type updateClusterRequest struct {
	ID   string `path:"clusterId"`
	Body struct {
		Muted *bool `json:"muted" rules:"required"`
	} `body:"json"`
}

func (h *conversationResources) updateCluster(
	ctx context.Context, c *access.Caller, r *updateClusterRequest,
) (schema.IssuesCluster, error) {
	row, err := h.store.Issues.MuteCluster(ctx, c.Organization.Organization.ID, r.ID, *r.Body.Muted, c.Now)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	return h.view.Cluster(row)
}
