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

-- name: OrganizationBySubdomain :one
select id from organizations where hostname = sqlc.arg(hostname)::text;

-- name: UpdateOrganization :one
-- Null leaves a member as it is; those for which null means something are set only if their set_ says so.
update organizations set
    title = coalesce(sqlc.narg(title), title),
    email_domains = coalesce(sqlc.narg(email_domains)::text[], email_domains),
    hostname = coalesce(sqlc.narg(hostname), hostname),
    default_role = case when sqlc.arg(set_default_role)::boolean then sqlc.narg(default_role) else default_role end,
    default_site = case when sqlc.arg(set_default_site)::boolean then sqlc.narg(default_site) else default_site end,
    logo = case when sqlc.arg(set_logo)::boolean then sqlc.narg(logo) else logo end,
    merge_rules = coalesce(sqlc.narg(merge_rules), merge_rules),
    sso = coalesce(sqlc.narg(sso), sso),
    ai = coalesce(sqlc.narg(ai), ai),
    invite_links = coalesce(sqlc.narg(invite_links), invite_links)
where id = sqlc.arg(id)
returning *;

-- name: SiteInOrganization :one
select exists (select 1 from sites where id = $1 and organization_id = $2);
