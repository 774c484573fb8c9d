-- name: UpsertConversations :batchone
-- Replaces what the same source said under the same id; what it does not say about the time stays.
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
insert into conversation_issues
    (id, organization_id, conversation_id, position, title, details, summary, impact, words, created_at, ingested_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (conversation_id, position) do update set
    title = excluded.title, details = excluded.details, summary = excluded.summary, impact = excluded.impact,
    words = excluded.words, created_at = excluded.created_at, ingested_at = excluded.ingested_at;

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
select sqlc.embed(c), sqlc.embed(t)
from conversations c join conversation_contents t on t.conversation_id = c.id
where c.id = sqlc.arg(id) and c.organization_id = sqlc.arg(organization_id);

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
select id, version from conversations where organization_id = $1 and processed_at is null order by id;

-- name: NewestIssues :many
select i.id, i.conversation_id, i.position, i.title, i.impact, i.words, i.cluster_id, i.created_at, c.source, c.source_id
from conversation_issues i join conversations c on c.id = i.conversation_id
where i.organization_id = sqlc.arg(organization_id)
order by i.created_at desc, i.id desc
limit sqlc.arg(most);

-- name: ReleaseIssuesBefore :exec
-- Issues that are too old to be clustered belong to no cluster.
update conversation_issues set cluster_id = null
where organization_id = sqlc.arg(organization_id) and cluster_id is not null
  and (created_at, id) < (sqlc.arg(created_at)::timestamptz, sqlc.arg(id)::text collate "C");

-- name: MoveIssues :exec
update conversation_issues i set cluster_id = m.cluster_id
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(clusters)::text[]) as cluster_id) m
where i.id = m.id;

-- name: MarkConversationsProcessed :exec
-- A conversation that was replaced since it was read stays unprocessed.
update conversations c set processed_at = sqlc.arg(now)::timestamptz
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(versions)::int[]) as version) m
where c.id = m.id and c.version = m.version;
