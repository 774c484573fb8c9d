package apps

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/ingest/conversations"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
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
	order := store.ClusterOrder{By: orderBy, Ascending: direction == "asc"}
	return frame.ListMade(ctx, fmt.Sprintf("clusters %s %s %s", organization, orderBy, direction), r.PageRequest, 2,
		func(after []string, size int) (store.Page[store.ClusterRow], error) {
			return h.store.ListClusters(ctx, organization, order, c.Now, after, size)
		},
		h.view.Cluster,
		func(row store.ClusterRow) []string {
			return order.Keys(row.Cluster)
		})
}

type getClusterRequest struct {
	ID string `path:"clusterId"`
}

func (h *conversationResources) getCluster(ctx context.Context, c *access.Caller, r *getClusterRequest) (schema.IssuesCluster, error) {
	row, err := h.store.Cluster(ctx, c.Organization.Organization.ID, r.ID, c.Now)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	return h.view.Cluster(row)
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
	row, err := h.store.MuteCluster(ctx, c.Organization.Organization.ID, r.ID, *r.Body.Muted, c.Now)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	return h.view.Cluster(row)
}

// analyzeIssues is the store.Analysis of this installation: the built-in method plus human-readable summaries.
func analyzeIssues(issues []store.AnalyzedIssue) ([]store.IssueGroup, error) {
	items := make([]conversations.Item, len(issues))
	before := make(map[string]string, len(issues))
	for i, issue := range issues {
		items[i] = conversations.Item{
			Key: issue.Key, Title: issue.Title, Impact: schema.Impact(issue.Impact), Words: issue.Words,
		}
		before[issue.ID] = issue.Cluster
	}
	found := conversations.Cluster(items)
	members := make([][]string, len(found))
	for i, group := range found {
		for _, member := range group.Members {
			members[i] = append(members[i], issues[member].ID)
		}
	}
	clusters := conversations.Match(members, before)
	groups := make([]store.IssueGroup, len(found))
	for i, group := range found {
		summary, err := schema.EncodeJSON(clusterSummary(items, group))
		if err != nil {
			return nil, err
		}
		groups[i] = store.IssueGroup{
			Cluster: clusters[i], Label: group.Label, Icon: group.Icon, Impact: string(group.Impact), Summary: summary,
			Issues: group.Members,
		}
	}
	return groups, nil
}

// clusterSummary states a cluster's size and impact and quotes its most typical issues in the users' own words.
func clusterSummary(items []conversations.Item, group conversations.Group) schema.Document {
	count := fmt.Sprintf("%d issues", len(group.Members))
	if len(group.Members) == 1 {
		count = "One issue"
	}
	lead := schema.Block("paragraph", schema.Text(fmt.Sprintf("%s of %s impact. In the users’ words:", count, group.Impact)))
	examples := schema.Block("list-unordered")
	for _, member := range group.Typical {
		examples.Nodes = append(examples.Nodes,
			schema.Block("list-item", schema.Block("paragraph", schema.Text(items[member].Title))))
	}
	return schema.NewDocument(lead, examples)
}
