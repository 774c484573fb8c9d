-- name: ClustersOfOrganization :many
select * from issues_clusters where organization_id = $1;

-- name: UpsertCluster :exec
-- What people decided about a cluster, such as that it is muted, stays.
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

-- name: ListClustersByUpdateDesc :many
-- Index: issues_clusters_updated (organization_id, updated_at, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (updated_at, id) < (sqlc.arg(after_key)::timestamptz, sqlc.arg(after)::text collate "C")
order by updated_at desc, id desc limit sqlc.arg(page_size);

-- name: ListClustersByUpdateAsc :many
-- Index: issues_clusters_updated (organization_id, updated_at, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (updated_at, id) > (sqlc.arg(after_key)::timestamptz, sqlc.arg(after)::text collate "C")
order by updated_at, id limit sqlc.arg(page_size);

-- name: ListClustersByIssuesDesc :many
-- Index: issues_clusters_issues (organization_id, issues, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (issues, id) < (sqlc.arg(after_key)::int, sqlc.arg(after)::text collate "C")
order by issues desc, id desc limit sqlc.arg(page_size);

-- name: ListClustersByIssuesAsc :many
-- Index: issues_clusters_issues (organization_id, issues, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (issues, id) > (sqlc.arg(after_key)::int, sqlc.arg(after)::text collate "C")
order by issues, id limit sqlc.arg(page_size);

-- name: ListClustersByConversationsDesc :many
-- Index: issues_clusters_conversations (organization_id, conversations, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (conversations, id) < (sqlc.arg(after_key)::int, sqlc.arg(after)::text collate "C")
order by conversations desc, id desc limit sqlc.arg(page_size);

-- name: ListClustersByConversationsAsc :many
-- Index: issues_clusters_conversations (organization_id, conversations, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id)
  and (conversations, id) > (sqlc.arg(after_key)::int, sqlc.arg(after)::text collate "C")
order by conversations, id limit sqlc.arg(page_size);

-- name: ListClustersByIDDesc :many
-- Index: issues_clusters_organization (organization_id, id).
-- The order by counts that every cluster has the same of.
select * from issues_clusters
where organization_id = sqlc.arg(organization_id) and id < sqlc.arg(after)::text collate "C"
order by id desc limit sqlc.arg(page_size);

-- name: ListClustersByIDAsc :many
-- Index: issues_clusters_organization (organization_id, id).
select * from issues_clusters
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id limit sqlc.arg(page_size);
