-- name: UpsertConversations :batchone
-- Replaces the conversation with the source's id. If the source sends no time, the stored time stays.
insert into conversations (id, organization_id, source, source_id, subject, url, impact, created_at, ingested_at)
values (
    sqlc.arg(id), sqlc.arg(organization_id), sqlc.arg(source), sqlc.arg(source_id), sqlc.arg(subject), sqlc.arg(url),
    sqlc.arg(impact), coalesce(sqlc.narg(created_at)::timestamptz, sqlc.arg(now)::timestamptz), sqlc.arg(now)
)
on conflict (organization_id, source, source_id) do update set
    subject = excluded.subject, url = excluded.url, impact = excluded.impact, ingested_at = excluded.ingested_at,
    created_at = coalesce(sqlc.narg(created_at)::timestamptz, conversations.created_at),
    version = conversations.version + 1, processed_at = null
returning *;

-- name: UpsertConversationContents :batchexec
insert into conversation_contents (conversation_id, parts, metadata) values ($1, $2, $3)
on conflict (conversation_id) do update set parts = excluded.parts, metadata = excluded.metadata;

-- name: UpsertConversationIssues :batchexec
-- An issue with other words than before has left its cluster: LeaveClusters has said so in the cluster's history.
insert into conversation_issues
    (id, organization_id, conversation_id, position, title, details, summary, impact, words, language, fingerprint, created_at, ingested_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
on conflict (conversation_id, position) do update set
    cluster_id = case when conversation_issues.fingerprint = excluded.fingerprint then conversation_issues.cluster_id end,
    title = excluded.title, details = excluded.details, summary = excluded.summary, impact = excluded.impact,
    words = excluded.words, language = excluded.language, fingerprint = excluded.fingerprint,
    meaning = case when conversation_issues.fingerprint = excluded.fingerprint then conversation_issues.meaning end,
    created_at = excluded.created_at, ingested_at = excluded.ingested_at;

-- name: LeaveClusters :exec
-- Notes that issues leave their clusters because their conversations were replaced. An issue leaves if its words are
-- not among the kept words. Every cluster with a replaced conversation is counted again. A model's text about a cluster
-- that an issue leaves may be out of date.
with kept as (
    select unnest(sqlc.arg(conversations)::text[]) as conversation_id, unnest(sqlc.arg(positions)::int[]) as position,
           unnest(sqlc.arg(fingerprints)::text[]) as fingerprint
), old as (
    select i.id, i.conversation_id, i.cluster_id, i.title,
           exists (select from kept k where k.conversation_id = i.conversation_id and k.position = i.position
                   and k.fingerprint = i.fingerprint) as stays
    from conversation_issues i
    where i.conversation_id = any(sqlc.arg(replaced)::text[]) and i.cluster_id is not null
), stale as (
    update issues_clusters c set
        stale = true, overview = case when changed.leaves then '' else c.overview end,
        overview_issues = case when changed.leaves then 0 else c.overview_issues end
    from (select cluster_id, bool_or(not stays) as leaves from old group by cluster_id) changed
    where c.id = changed.cluster_id
)
insert into issues_cluster_events (id, organization_id, cluster_id, kind, issue_id, conversation_id, title, reason, created_at)
select sqlc.arg(prefix)::text || lpad((row_number() over (order by id))::text, 6, '0'), sqlc.arg(organization_id), cluster_id, 'left', id, conversation_id, title,
       'The conversation was replaced and no longer says this.', sqlc.arg(now)::timestamptz
from old where not stays;

-- name: DeleteConversationIssuesFrom :batchexec
-- Takes away what a replaced conversation had more of.
delete from conversation_issues where conversation_id = $1 and position >= $2;

-- name: ListConversations :many
-- Index: conversations_organization (organization_id, id).
-- With a source: conversations_source (organization_id, source, id).
select * from conversations
where organization_id = sqlc.arg(organization_id)
  and id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(source)::text is null or source = sqlc.narg(source))
order by id
limit sqlc.arg(page_size);

-- name: CountConversations :one
-- No index: every index that starts with the organization does as well.
select count(*) from conversations
where organization_id = sqlc.arg(organization_id) and (sqlc.narg(source)::text is null or source = sqlc.narg(source));

-- name: ConversationByID :one
-- By our id, or by the id that its source gave it. Of sources that gave the same, the conversation that came first.
select sqlc.embed(c), sqlc.embed(t)
from conversations c join conversation_contents t on t.conversation_id = c.id
where c.organization_id = sqlc.arg(organization_id) and (c.id = sqlc.arg(id) or c.source_id = sqlc.arg(id))
order by c.id = sqlc.arg(id) desc, c.id
limit 1;

-- name: ListConversationIssues :many
-- Index: conversation_issues_organization (organization_id, id).
-- With a cluster or a conversation: conversation_issues_cluster, conversation_issues_conversation_id_position_key.
select sqlc.embed(i), sqlc.embed(c)
from conversation_issues i join conversations c on c.id = i.conversation_id
where i.organization_id = sqlc.arg(organization_id)
  and i.id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(cluster)::text is null or i.cluster_id = sqlc.narg(cluster))
  and (sqlc.narg(conversation)::text is null or i.conversation_id = sqlc.narg(conversation))
order by i.id
limit sqlc.arg(page_size);

-- name: CountConversationIssues :one
-- No index: every index that starts with the organization does as well.
select count(*) from conversation_issues
where organization_id = sqlc.arg(organization_id)
  and (sqlc.narg(cluster)::text is null or cluster_id = sqlc.narg(cluster))
  and (sqlc.narg(conversation)::text is null or conversation_id = sqlc.narg(conversation));

-- name: ConversationIssueByID :one
select sqlc.embed(i), sqlc.embed(c)
from conversation_issues i join conversations c on c.id = i.conversation_id
where i.id = sqlc.arg(id) and i.organization_id = sqlc.arg(organization_id);

-- name: UnprocessedConversations :many
select id, version from conversations where organization_id = sqlc.arg(organization_id) and processed_at is null order by id limit sqlc.arg(most);

-- name: UnclusteredIssues :many
-- Returns the issues without a cluster. Each has the cluster of an issue with equal words.
select i.id, i.words, i.language, i.fingerprint, i.meaning, i.summary, c.subject, c.source, c.source_id, i.position,
       coalesce((select twin.cluster_id from conversation_issues twin
                 where twin.organization_id = i.organization_id and twin.fingerprint = i.fingerprint and i.fingerprint <> ''
                   and twin.cluster_id is not null
                 order by twin.id limit 1), '')::text as twin_cluster
from conversation_issues i join conversations c on c.id = i.conversation_id
where i.conversation_id = any(sqlc.arg(conversations)::text[]) and i.cluster_id is null
order by i.id;

-- name: RecentIssues :many
-- Returns the latest issues that are in clusters. Issues with an older twin are left out, because equal issues move
-- together.
-- Index: conversation_issues_organization (organization_id, id).
with recent as (
    select r.* from conversation_issues r where r.organization_id = sqlc.arg(organization_id) and r.cluster_id is not null
    order by r.id desc limit sqlc.arg(most)::int
)
select i.id, i.words, i.language, i.fingerprint, i.meaning, i.summary, c.subject, c.source, c.source_id, i.position, i.cluster_id::text as cluster
from recent i join conversations c on c.id = i.conversation_id
where not exists (
    select from conversation_issues twin
    where twin.organization_id = i.organization_id and twin.fingerprint = i.fingerprint and twin.cluster_id is not null
      and twin.id < (select min(r.id) from recent r)
);

-- name: SaveMeanings :exec
-- An issue that was replaced since it was read means something else.
update conversation_issues i set meaning = m.meaning
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(fingerprints)::text[]) as fingerprint,
             unnest(sqlc.arg(meanings)::bytea[]) as meaning) m
where i.id = m.id and i.fingerprint = m.fingerprint;

-- name: MoveIssues :exec
-- Puts issues into clusters and notes why, in the history of both if one was in another cluster. One that was replaced since it was
-- read stays out until the next analysis.
with moved as (
    update conversation_issues i set cluster_id = m.cluster_id
    from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(fingerprints)::text[]) as fingerprint,
                 unnest(sqlc.arg(clusters)::text[]) as cluster_id, unnest(sqlc.arg(left_clusters)::text[]) as left_cluster,
                 unnest(sqlc.arg(events)::text[]) as event, unnest(sqlc.arg(reasons)::text[]) as reason) m
    where i.id = m.id and i.fingerprint = m.fingerprint and coalesce(i.cluster_id, '') = m.left_cluster
    returning i.id, i.organization_id, i.conversation_id, i.title, i.cluster_id, m.left_cluster, m.event, m.reason
)
insert into issues_cluster_events (id, organization_id, cluster_id, kind, issue_id, conversation_id, title, reason, created_at)
select event, organization_id, cluster_id, 'joined', id, conversation_id, title, reason, sqlc.arg(now)::timestamptz from moved
union all
select event || '-', organization_id, left_cluster, 'left', id, conversation_id, title, sqlc.arg(reason_left)::text, sqlc.arg(now)
from moved where left_cluster <> '';

-- name: MergeCluster :exec
-- Moves all that a cluster has to another one, and notes it for every issue.
with moved as (
    update conversation_issues set cluster_id = sqlc.arg(into_cluster)::text where cluster_id = sqlc.arg(from_cluster)::text
    returning id, organization_id, conversation_id, title
), requests as (
    update change_requests set cluster_id = sqlc.arg(into_cluster) where cluster_id = sqlc.arg(from_cluster)
), history as (
    update issues_cluster_events set cluster_id = sqlc.arg(into_cluster) where cluster_id = sqlc.arg(from_cluster)
)
insert into issues_cluster_events (id, organization_id, cluster_id, kind, issue_id, conversation_id, title, reason, created_at)
select sqlc.arg(prefix)::text || lpad((row_number() over (order by id))::text, 6, '0'), organization_id, sqlc.arg(into_cluster), 'joined', id, conversation_id, title,
       sqlc.arg(reason)::text, sqlc.arg(now)::timestamptz
from moved;

-- name: ClusterIssuesSample :many
-- Returns a bounded number of issues of each cluster. The choice does not depend on the order in which the issues
-- came.
select s.* from unnest(sqlc.arg(clusters)::text[]) as of_cluster(id)
cross join lateral (
    select i.cluster_id, i.title, i.impact, i.words, i.language, i.fingerprint, i.meaning, i.summary
    from conversation_issues i where i.cluster_id = of_cluster.id
    order by i.fingerprint, i.id limit sqlc.arg(most)::int
) s;

-- name: CountedClusters :many
-- What is counted of clusters. Issues that are gone are not.
-- No index: it reads the issues of a bounded number of clusters.
select i.cluster_id, count(*) as issues, count(distinct i.conversation_id) as conversations,
       min(i.created_at)::timestamptz as oldest, max(i.created_at)::timestamptz as newest,
       count(*) filter (where i.impact = 'high') as high, count(*) filter (where i.impact in ('high', 'medium')) as medium
from conversation_issues i where i.cluster_id = any(sqlc.arg(clusters)::text[])
group by i.cluster_id;

-- name: SourcesOfClusters :many
-- No index: it reads the issues of a bounded number of clusters.
select i.cluster_id, c.source, count(distinct c.id) as conversations
from conversation_issues i join conversations c on c.id = i.conversation_id
where i.cluster_id = any(sqlc.arg(clusters)::text[])
group by i.cluster_id, c.source;

-- name: MarkConversationsProcessed :exec
-- A conversation that was replaced since it was read stays unprocessed.
update conversations c set processed_at = sqlc.arg(now)::timestamptz
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(versions)::int[]) as version) m
where c.id = m.id and c.version = m.version;
