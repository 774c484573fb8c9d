-- name: InsertComment :one
-- Inserts a comment on a change request, or on the space if change_request_id is null. The place counts the comment,
-- and the comment gets the head of the place's content. The result is empty if there is no such place, or if the place
-- has bound comments.
with space as (
    update spaces set open_comments = open_comments + 1
    where spaces.id = sqlc.arg(space_id) and sqlc.narg(change_request_id)::text is null
      and spaces.open_comments + spaces.resolved_comments < sqlc.arg(bound)::bigint
    returning revision
), request as (
    update change_requests set open_comments = open_comments + 1
    where change_requests.id = sqlc.narg(change_request_id) and change_requests.space_id = sqlc.arg(space_id)
      and change_requests.open_comments + change_requests.resolved_comments < sqlc.arg(bound)::bigint
    returning revision
)
insert into comments (
    id, space_id, change_request_id, author_id, body, node_id, page_id, table_record, table_definition, review_id, revision)
select sqlc.arg(id), sqlc.arg(space_id), sqlc.narg(change_request_id), sqlc.arg(author_id), sqlc.arg(body),
    sqlc.narg(node_id), sqlc.narg(page_id), sqlc.narg(table_record), sqlc.narg(table_definition), sqlc.narg(review_id),
    head.revision
from (select revision from space union all select revision from request) head
returning *;

-- name: InsertReply :one
-- The update comes first, because the row that it locks keeps the parent from going away. No row when there is no such comment,
-- or when it has as many replies as the bound says.
with parent as (
    update comments set replies = comments.replies + 1
    where comments.id = sqlc.arg(parent_id)::text and comments.space_id = sqlc.arg(space_id)
      and comments.change_request_id is not distinct from sqlc.narg(change_request_id)::text and comments.parent_id is null
      and comments.replies < sqlc.arg(bound)::bigint
    returning comments.id, comments.space_id, comments.change_request_id, comments.revision
)
insert into comments (id, space_id, change_request_id, parent_id, author_id, body, revision)
select sqlc.arg(id), parent.space_id, parent.change_request_id, parent.id, sqlc.arg(author_id), sqlc.arg(body), parent.revision
from parent
returning *;

-- name: Comment :one
-- Index: comments_pkey (id).
select * from comments
where id = sqlc.arg(id) and space_id = sqlc.arg(space_id)
  and change_request_id is not distinct from sqlc.narg(change_request_id)::text
  and parent_id is not distinct from sqlc.narg(parent_id)::text;

-- name: LockComment :one
-- Index: comments_pkey (id).
select * from comments
where id = sqlc.arg(id) and space_id = sqlc.arg(space_id)
  and change_request_id is not distinct from sqlc.narg(change_request_id)::text
  and parent_id is not distinct from sqlc.narg(parent_id)::text
for no key update;

-- name: ListComments :many
-- Index: comments_thread (thread_id, posted_at, id). Postgres plans it for its values (store/postgres/planned.go). So
-- unset filters cost nothing, and a set filter uses its index.
select * from comments
where thread_id = sqlc.arg(thread_id)
  and (sqlc.narg(after_at)::timestamptz is null or case when sqlc.arg(ascending)::boolean
       then (posted_at, id) > (sqlc.narg(after_at)::timestamptz, sqlc.arg(after_id)::text collate "C")
       else (posted_at, id) < (sqlc.narg(after_at)::timestamptz, sqlc.arg(after_id)::text collate "C") end)
  and (sqlc.narg(status)::text is null or status = sqlc.narg(status))
  and (sqlc.narg(page_id)::text is null or page_id = sqlc.narg(page_id))
  and (sqlc.narg(authors)::text[] is null or author_id = any(sqlc.narg(authors)))
order by case when sqlc.arg(ascending)::boolean then posted_at end, case when sqlc.arg(ascending)::boolean then id end,
    posted_at desc, id desc
limit sqlc.arg(page_size);

-- name: CountComments :one
-- Index: comments_thread (thread_id, posted_at, id).
-- Only for filters that no counter knows: see ThreadCounts.
select count(*) from comments
where thread_id = sqlc.arg(thread_id)
  and (sqlc.narg(status)::text is null or status = sqlc.narg(status))
  and (sqlc.narg(page_id)::text is null or page_id = sqlc.narg(page_id))
  and (sqlc.narg(authors)::text[] is null or author_id = any(sqlc.narg(authors)));

-- name: ThreadCounts :one
-- The row that counts the comments of the list: that of their place.
select open_comments, resolved_comments from spaces where spaces.id = sqlc.arg(thread_id)
union all
select open_comments, resolved_comments from change_requests where change_requests.id = sqlc.arg(thread_id)
union all
select replies, 0::bigint from comments where comments.id = sqlc.arg(thread_id);

-- name: MoveThreadCounts :exec
-- The ids of spaces, change requests and comments never collide. So only one of the three updates finds the id.
with space as (
    update spaces set
        open_comments = spaces.open_comments + sqlc.arg(opened)::bigint, resolved_comments = spaces.resolved_comments + sqlc.arg(resolved)::bigint
    where spaces.id = sqlc.arg(thread_id)
), request as (
    update change_requests set
        open_comments = change_requests.open_comments + sqlc.arg(opened)::bigint,
        resolved_comments = change_requests.resolved_comments + sqlc.arg(resolved)::bigint
    where change_requests.id = sqlc.arg(thread_id)
)
update comments set replies = comments.replies + sqlc.arg(opened)::bigint where comments.id = sqlc.arg(thread_id);

-- name: UpdateComment :one
-- Null leaves a member as it is. An equal body is not an edit, and a resolved comment keeps who resolved it first.
update comments set
    body = coalesce(sqlc.narg(body)::jsonb, body),
    edited_at = case when sqlc.narg(body)::jsonb is null or sqlc.narg(body)::jsonb = body then edited_at else now() end,
    status = coalesce(sqlc.narg(status)::text, status),
    resolved_at = case coalesce(sqlc.narg(status)::text, status) when 'resolved' then coalesce(resolved_at, now()) end,
    resolved_by = case coalesce(sqlc.narg(status)::text, status) when 'resolved' then coalesce(resolved_by, sqlc.arg(user_id)::text) end
where id = sqlc.arg(id)
returning *;

-- name: DeleteComment :exec
delete from comments where id = $1;

-- name: AddReactions :exec
insert into comment_reactions (comment_id, user_id, emoji)
select sqlc.arg(comment_id), sqlc.arg(user_id), added.emoji
from unnest(sqlc.arg(emoji)::text[]) with ordinality added (emoji, position)
order by added.position
on conflict do nothing;

-- name: RemoveReactions :exec
delete from comment_reactions
where comment_id = sqlc.arg(comment_id) and user_id = sqlc.arg(user_id) and emoji = any(sqlc.arg(emoji)::text[]);

-- name: ReactionsOfComments :many
-- Index: comment_reactions_comment (comment_id, position).
select comment_id, emoji, user_id, reacted_at from comment_reactions
where comment_id = any(sqlc.arg(comment_ids)::text[])
order by comment_id, position;

-- name: RepliersOfComments :many
-- Index: comments_thread (thread_id, posted_at, id).
-- Sorts: the people who replied on one page of comments.
select thread_id, author_id, count(*) as replies, max(coalesce(edited_at, posted_at))::timestamptz as updated_at from comments
where thread_id = any(sqlc.arg(comment_ids)::text[])
group by thread_id, author_id
order by thread_id, min(posted_at), author_id;

-- name: CommentsOfReviews :many
-- Index: comments_review (review_id).
select * from comments where review_id = any(sqlc.arg(review_ids)::text[]);

-- name: PutCommentDocument :exec
-- If the body has changed since, no document is stored.
insert into comment_documents (comment_id, body_hash, document)
select comments.id, md5(comments.body::text), sqlc.arg(document)::jsonb from comments
where comments.id = sqlc.arg(id) and comments.body = sqlc.arg(body)::jsonb
on conflict (comment_id) do update set body_hash = excluded.body_hash, document = excluded.document;

-- name: CommentDocuments :many
-- Index: comment_documents_pkey.
select d.comment_id, d.document from comment_documents d join comments c on c.id = d.comment_id
where d.comment_id = any(sqlc.arg(ids)::text[]) and d.body_hash = md5(c.body::text);
