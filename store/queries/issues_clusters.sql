-- name: ClustersOfOrganization :many
select * from issues_clusters where organization_id = $1;

-- name: UpsertClusters :batchexec
-- What people decided about a cluster, for example that it is muted, stays.
insert into issues_clusters
    (id, organization_id, label, icon, impact, summary, sources, issues, conversations, created_at, updated_at)
values (
    sqlc.arg(id), sqlc.arg(organization_id), sqlc.arg(label), sqlc.arg(icon), sqlc.arg(impact), sqlc.arg(summary),
    sqlc.arg(sources), sqlc.arg(issues), sqlc.arg(conversations), sqlc.arg(now)::timestamptz, sqlc.arg(now)
)
on conflict (id) do update set
    label = excluded.label, icon = excluded.icon, impact = excluded.impact, summary = excluded.summary,
    sources = excluded.sources, issues = excluded.issues, conversations = excluded.conversations,
    updated_at = excluded.updated_at;

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
-- Week 0 is the one that ends now.
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
-- issues_clusters_issues, issues_clusters_conversations.
-- Clusters have no counts but those of issues and conversations: by any other all are equal, and the id decides. Planned for its
-- values: see planned.
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
