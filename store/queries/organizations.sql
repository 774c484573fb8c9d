-- name: InsertOrganization :one
insert into organizations (id, title, email_domains) values ($1, $2, $3) returning *;

-- name: OrganizationForUser :one
-- The organization and the user's role in it; no row when there is no such organization or the user is not in it, which
-- the caller must not be able to tell apart.
select sqlc.embed(o), m.role
from memberships m join organizations o on o.id = m.organization_id
where m.user_id = sqlc.arg(user_id) and m.organization_id = sqlc.arg(organization_id);

-- name: ListOrganizationsForUser :many
-- Index: memberships_pkey (user_id, organization_id).
select sqlc.embed(o), m.role
from memberships m join organizations o on o.id = m.organization_id
where m.user_id = sqlc.arg(user_id) and m.organization_id > sqlc.arg(after)::text collate "C"
order by m.organization_id
limit sqlc.arg(page_size);

-- name: CountOrganizationsForUser :one
-- Index: memberships_pkey.
select count(*) from memberships where user_id = $1;

-- name: UpsertMembership :exec
insert into memberships (user_id, organization_id, role) values ($1, $2, $3)
on conflict (user_id, organization_id) do update set role = excluded.role;
