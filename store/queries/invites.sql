-- name: InsertUserOnce :exec
insert into users (id, display_name, email) values ($1, $2, $3) on conflict (lower(email)) do nothing;

-- name: InsertMembershipOnce :execrows
insert into memberships (user_id, organization_id, role) values ($1, $2, $3)
on conflict (user_id, organization_id) do nothing;

-- name: LockMembership :one
select role from memberships where user_id = $1 and organization_id = $2 for update;

-- name: InsertLinkInvite :one
insert into link_invites (id, organization_id, role, created_by) values ($1, $2, $3, $4) returning *;

-- name: LinkInviteByID :one
select * from link_invites where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: OpenLinkInvite :one
-- The invite for whoever follows it; no row if the organization has turned its links off.
select l.* from link_invites l join organizations o on o.id = l.organization_id
where l.id = sqlc.arg(id) and l.organization_id = sqlc.arg(organization_id) and o.invite_links
for share of l;

-- name: UpdateLinkInvite :one
update link_invites set role = sqlc.narg(role)
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

-- name: DeleteLinkInvite :exec
delete from link_invites where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: ListLinkInvites :many
-- Index: link_invites_organization (organization_id, id).
select * from link_invites
where organization_id = sqlc.arg(organization_id) and space_id is null and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountLinkInvites :one
-- No index: every index that starts with the organization does as well.
select count(*) from link_invites where organization_id = $1 and space_id is null;
