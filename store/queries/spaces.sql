-- name: InsertSpace :one
insert into spaces (id, organization_id, parent_id, position, title, emoji, edit_mode, language, revision)
values ($1, $2, $3, sqlc.arg(position)::numeric, $4, $5, $6, $7, $8) returning *;

-- name: SpacesForUser :many
-- Spaces with what decides about the user's access to them; no row for a foreign or unknown space.
select sqlc.embed(s), m.role, coalesce(a.level, '')::text as level, a.grant_rank
from spaces_access(sqlc.arg(user_id), sqlc.arg(ids)::text[]) a
    join spaces s on s.id = a.content_id
    join memberships m on m.organization_id = s.organization_id and m.user_id = sqlc.arg(user_id);

-- name: ListSpaces :many
-- Index: spaces_organization (organization_id, id).
-- Those that the user may see.
select sqlc.embed(s), coalesce(x.level, '')::text as level, x.grant_rank::integer as grant_rank
from spaces s
    left join collections_access(sqlc.arg(user_id), sqlc.arg(organization_id)) a on a.content_id = s.parent_id
    left join grants_given(sqlc.arg(user_id), sqlc.arg(organization_id)) g on g.content_id = s.id
    cross join lateral (
        select case when s.default_level = 'inherit' and s.parent_id is not null then a.level else s.default_level end as level,
               greatest(a.grant_rank, g.grant_rank, 0) as grant_rank
    ) x
where s.organization_id = sqlc.arg(organization_id)
  and s.id > sqlc.arg(after)::text collate "C"
  and access_rank(sqlc.narg(role), x.level, x.grant_rank) > 0
order by s.id
limit sqlc.arg(page_size);

-- name: CountSpaces :one
-- Index: spaces_organization.
select count(*)
from spaces s
    left join collections_access(sqlc.arg(user_id), sqlc.arg(organization_id)) a on a.content_id = s.parent_id
    left join grants_given(sqlc.arg(user_id), sqlc.arg(organization_id)) g on g.content_id = s.id
where s.organization_id = sqlc.arg(organization_id)
  and access_rank(sqlc.narg(role),
      case when s.default_level = 'inherit' and s.parent_id is not null then a.level else s.default_level end,
      greatest(a.grant_rank, g.grant_rank, 0)) > 0;

-- name: ListSpacesInCollection :many
-- Index: spaces_parent (parent_id, position, id).
-- Those directly in it that the user may see; level and grant are what decides about the user's access to the collection.
select sqlc.embed(s), coalesce(x.level, '')::text as level, x.grant_rank::integer as grant_rank
from spaces s
    left join grants_given(sqlc.arg(user_id), sqlc.arg(organization_id)) g on g.content_id = s.id
    cross join lateral (
        select case when s.default_level = 'inherit' then nullif(sqlc.arg(level)::text, '') else s.default_level end as level,
               greatest(g.grant_rank, sqlc.arg(grant_rank)::integer) as grant_rank
    ) x
where s.parent_id = sqlc.arg(collection_id)::text
  and (s.position, s.id) > (sqlc.arg(after_position)::numeric, sqlc.arg(after)::text collate "C")
  and access_rank(sqlc.narg(role), x.level, x.grant_rank) > 0
order by s.position, s.id
limit sqlc.arg(page_size);

-- name: CountSpacesInCollection :one
-- Index: spaces_parent.
select count(*)
from spaces s left join grants_given(sqlc.arg(user_id), sqlc.arg(organization_id)) g on g.content_id = s.id
where s.parent_id = sqlc.arg(collection_id)::text
  and access_rank(sqlc.narg(role), case when s.default_level = 'inherit' then nullif(sqlc.arg(level)::text, '') else s.default_level end,
      greatest(g.grant_rank, sqlc.arg(grant_rank)::integer)) > 0;

-- name: UpdateSpace :one
-- Null leaves a member as it is; those for which null means something are set only if their set_ says so.
update spaces set
    title = coalesce(sqlc.narg(title), title),
    emoji = coalesce(sqlc.narg(emoji), emoji),
    icon = case when sqlc.arg(set_icon)::boolean then sqlc.narg(icon) else icon end,
    edit_mode = coalesce(sqlc.narg(edit_mode), edit_mode),
    language = coalesce(sqlc.narg(language), language),
    default_level = case when sqlc.arg(set_level)::boolean then sqlc.narg(default_level) else default_level end,
    merge_rules = coalesce(sqlc.narg(merge_rules), merge_rules),
    updated_at = now()
where id = sqlc.arg(id)
returning *;

-- name: LockSitesOfSpace :many
-- In the order of their ids, so that whoever locks several waits for the others and is not waited for.
select id from sites where id in (select site_id from site_spaces where space_id = $1) order by id for no key update;

-- name: LockSpaceToDelete :many
-- Keeps sites from taking the space in; no row for a space that is gone.
select id from spaces where id = $1 for update;

-- name: InOtherSites :one
select exists (select from site_spaces where space_id = sqlc.arg(space_id) and site_id <> all(sqlc.arg(sites)::text[]));

-- name: DeleteSpace :exec
delete from spaces where id = $1;

-- name: SpaceByID :one
-- For a caller whose right to it is already known.
select * from spaces where id = $1;

-- name: SpaceForSite :one
-- Until the transaction ends, the space neither goes nor moves to another organization.
select * from spaces where id = $1 for key share;
