-- name: ClusterProfiles :many
select id, language, profile, issues from issues_clusters
where organization_id = sqlc.arg(organization_id) and profile is not null and issues > 0
order by id;

-- name: StaleClusters :many
select id from issues_clusters where organization_id = sqlc.arg(organization_id) and stale order by id limit sqlc.arg(most);

-- name: ClustersByIDs :many
select * from issues_clusters where id = any(sqlc.arg(ids)::text[]) order by id;

-- name: ClustersToRefine :many
-- No index: the clusters of an organization, as ClusterProfiles reads them. It returns the clusters that have grown to
-- several times their former size.
select id, language from issues_clusters
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
  and issues >= greatest(sqlc.arg(least)::int, sqlc.arg(growth)::int * overview_issues)
order by id
limit sqlc.arg(most);

-- name: ClusterToRefine :one
select * from issues_clusters where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id) for no key update;

-- name: RefineCluster :exec
-- The next analysis writes the summary.
update issues_clusters set
    label = sqlc.arg(label), overview = sqlc.arg(overview), overview_issues = issues, titled = sqlc.arg(titled),
    stale = stale or sqlc.arg(changed)::boolean, updated_at = case when sqlc.arg(changed) then now() else updated_at end
where id = sqlc.arg(id);

-- name: FoundClusters :exec
-- Makes room for new clusters; DescribeClusters fills it in the same transaction.
insert into issues_clusters (id, organization_id, label, icon, impact, summary, sources, issues, conversations, created_at, updated_at)
select unnest(sqlc.arg(ids)::text[]), sqlc.arg(organization_id), '', '', 'low', '{}', '{}', 0, 0, sqlc.arg(now)::timestamptz, sqlc.arg(now);

-- name: DescribeClusters :batchexec
-- What people decided about a cluster, for example that it is muted, stays. A cluster is as new as its newest issue.
update issues_clusters set
    label = sqlc.arg(label), icon = sqlc.arg(icon), impact = sqlc.arg(impact), summary = sqlc.arg(summary), sources = sqlc.arg(sources),
    issues = sqlc.arg(issues), conversations = sqlc.arg(conversations), language = sqlc.arg(language), profile = sqlc.arg(profile),
    theme = sqlc.narg(theme), stale = false, created_at = sqlc.arg(oldest)::timestamptz,
    updated_at = case when issues = 0 then sqlc.arg(newest)::timestamptz else greatest(updated_at, sqlc.arg(newest)) end
where id = sqlc.arg(id);

-- name: InsertClusterEvents :batchexec
insert into issues_cluster_events (id, organization_id, cluster_id, kind, title, reason, created_at)
values ($1, $2, $3, $4, $5, $6, $7);

-- name: ListClusterEvents :many
-- Index: issues_cluster_events_cluster (cluster_id, id).
select * from issues_cluster_events
where cluster_id = sqlc.arg(cluster_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountClusterEvents :one
-- Index: issues_cluster_events_cluster (cluster_id, id).
select count(*) from issues_cluster_events where cluster_id = sqlc.arg(cluster_id);

-- name: ClusterForRequest :one
-- The share lock prevents muting and deleting the cluster before the request refers to it.
select muted from issues_clusters where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id) for share;

-- name: RequestsOfClusters :many
-- Index: change_requests_cluster (organization_id, cluster_id, id).
select r.id, r.space_id, r.number, r.status, r.cluster_id from unnest(sqlc.arg(clusters)::text[]) as of_cluster(id)
cross join lateral (
    select q.id, q.space_id, q.number, q.status, q.cluster_id from change_requests q
    where q.organization_id = sqlc.arg(organization_id) and q.cluster_id = of_cluster.id
    order by q.id desc limit sqlc.arg(most)::int
) r;

-- name: TellMergedClusters :exec
-- Sets, for the rest of the transaction, the targets of merged clusters as JSON. The deletion of the merged clusters
-- reads it for webhooks.
select set_config('octavo.merged_clusters', sqlc.arg(merged)::text, true);

-- name: DeleteClusters :exec
delete from issues_clusters where id = any(sqlc.arg(ids)::text[]);

-- name: ClusterByID :one
select * from issues_clusters where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: MuteCluster :one
update issues_clusters set
    muted = sqlc.arg(muted), updated_at = case when muted = sqlc.arg(muted) then updated_at else now() end
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

-- name: ClusterPulses :many
-- Week 0 is the week that ends now.
select cluster_id, floor(extract(epoch from (sqlc.arg(now)::timestamptz - created_at)) / 604800)::int as week, count(*) as issues
from conversation_issues
where cluster_id = any(sqlc.arg(clusters)::text[])
  and created_at > sqlc.arg(now)::timestamptz - sqlc.arg(weeks)::int * interval '7 days' and created_at <= sqlc.arg(now)
group by 1, 2;

-- name: CountClusters :one
-- No index: every index that starts with the organization does as well.
select count(*) from issues_clusters where organization_id = $1;

-- name: ListClusters :many
-- Index: issues_clusters_organization (organization_id, id), or with the key before the id: issues_clusters_updated,
-- issues_clusters_issues, issues_clusters_conversations. Clusters have only counts of issues and conversations. Sorted
-- by another count, all are equal, and the id decides. Postgres plans it for its values (store/postgres/planned.go).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and case
      when sqlc.arg(order_by)::text = 'updatedAt' and sqlc.arg(ascending)::boolean
      then (updated_at, id) > (sqlc.arg(after_time)::timestamptz, sqlc.arg(after)::text collate "C")
      when sqlc.arg(order_by) = 'updatedAt'
      then (updated_at, id) < (sqlc.arg(after_time), sqlc.arg(after) collate "C")
      when sqlc.arg(order_by) = 'issues' and sqlc.arg(ascending)
      then (issues, id) > (sqlc.arg(after_count)::bigint, sqlc.arg(after) collate "C")
      when sqlc.arg(order_by) = 'issues'
      then (issues, id) < (sqlc.arg(after_count), sqlc.arg(after) collate "C")
      when sqlc.arg(order_by) = 'conversations' and sqlc.arg(ascending)
      then (conversations, id) > (sqlc.arg(after_count), sqlc.arg(after) collate "C")
      when sqlc.arg(order_by) = 'conversations'
      then (conversations, id) < (sqlc.arg(after_count), sqlc.arg(after) collate "C")
      when sqlc.arg(ascending) then id > sqlc.arg(after) collate "C"
      else id < sqlc.arg(after) collate "C"
  end
order by case when sqlc.arg(ascending) and sqlc.arg(order_by) = 'updatedAt' then updated_at end,
         case when sqlc.arg(ascending) then case sqlc.arg(order_by) when 'issues' then issues when 'conversations' then conversations end end,
         case when sqlc.arg(ascending) then id end,
         case when sqlc.arg(order_by) = 'updatedAt' then updated_at end desc,
         case sqlc.arg(order_by) when 'issues' then issues when 'conversations' then conversations end desc,
         id desc
limit sqlc.arg(page_size);
