-- name: InsertMembershipOnce :execrows
insert into memberships (user_id, organization_id, role, sso) values ($1, $2, $3, $4)
on conflict (user_id, organization_id) do nothing;

-- name: LockMembership :one
select role from memberships where user_id = $1 and organization_id = $2 for update;

-- name: RaiseGrant :exec
-- Gives a user a role on a piece of content. A higher role of the user stays.
insert into grants (organization_id, collection_id, space_id, user_id, role)
values (sqlc.arg(organization_id), sqlc.narg(collection_id), sqlc.narg(space_id), sqlc.arg(user_id)::text, sqlc.arg(role))
on conflict (collection_id, space_id, user_id, team_id) do update
set role = case when role_rank(excluded.role) > role_rank(grants.role) then excluded.role else grants.role end;

-- name: InsertLinkInvite :one
-- Adds nothing if the user is not an admin. The lock makes a concurrent change of the user's role wait.
with inviter as (
    select m.user_id from memberships m
    where m.organization_id = sqlc.arg(organization_id)::text and m.user_id = sqlc.arg(created_by)::text
      and m.role = 'admin'
    for share
)
insert into link_invites (id, organization_id, role, space_id, collection_id, created_by, expires_at)
select sqlc.arg(id)::text, sqlc.arg(organization_id)::text, sqlc.narg(role)::text, sqlc.narg(space_id)::text,
    sqlc.narg(collection_id)::text, i.user_id, creation_time() + sqlc.narg(lasts)::interval
from inviter i
returning *;

-- name: LinkInviteByID :one
-- An invite to content that has moved to another organization no longer counts here.
select * from link_invites l
where l.id = sqlc.arg(id) and l.organization_id = sqlc.arg(organization_id)
  and (l.space_id is null or exists (select 1 from spaces s where s.id = l.space_id and s.organization_id = l.organization_id))
  and (l.collection_id is null
       or exists (select 1 from collections c where c.id = l.collection_id and c.organization_id = l.organization_id));

-- name: LinksAreOpen :one
select invite_links from organizations where id = $1;

-- name: UpdateLinkInvite :one
-- The link then belongs to the admin who chose its role, so it ends with this admin's rights.
with inviter as (
    select m.user_id from memberships m
    where m.organization_id = sqlc.arg(organization_id)::text and m.user_id = sqlc.arg(by_user)::text
      and m.role = 'admin'
    for share
)
update link_invites l set role = sqlc.narg(role)::text, created_by = i.user_id
from inviter i
where l.id = sqlc.arg(id)::text and l.organization_id = sqlc.arg(organization_id)::text
returning l.*;

-- name: DeleteLinkInvite :exec
delete from link_invites where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: ListLinkInvites :many
-- Index: link_invites_organization (organization_id, id).
select * from link_invites
where organization_id = sqlc.arg(organization_id) and space_id is null and collection_id is null and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountLinkInvites :one
-- No index: every index that starts with the organization does as well.
select count(*) from link_invites where organization_id = $1 and space_id is null and collection_id is null;
