-- name: InsertSpace :one
insert into spaces (id, organization_id, parent_id, position, title, emoji, edit_mode, language, revision)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning *;

-- name: SpacesForUser :many
-- Returns spaces with the facts about the user's access to them. An unknown space, or a space in another
-- organization, has no row.
select sqlc.embed(s), m.role, coalesce(a.level, '')::text as level, a.grant_rank
from spaces s
    join memberships m on m.organization_id = s.organization_id and m.user_id = sqlc.arg(user_id)
    cross join access_to(sqlc.arg(user_id), s.id, s.default_level, s.parent_id) a
where s.id = any(sqlc.arg(ids)::text[]);

-- name: AccessOfUsers :many
-- Reads what decides about the access of each of these users to a space. Users who are not in its organization have no
-- row.
select m.user_id, m.role, coalesce(a.level, '')::text as level, a.grant_rank
from spaces s
    join memberships m on m.organization_id = s.organization_id and m.user_id = any(sqlc.arg(users)::text[])
    cross join access_to(m.user_id, s.id, s.default_level, s.parent_id) a
where s.id = sqlc.arg(space_id);

-- name: ListSpaces :many
-- Index: spaces_organization (organization_id, id).
-- Spaces that the user may see. An admin's access depends on the role alone.
select sqlc.embed(s), coalesce(a.level, '')::text as level, coalesce(a.grant_rank, 0)::integer as grant_rank
from spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) seen
    join spaces s on s.id = seen.id
    left join access_to(sqlc.arg(user_id), s.id, s.default_level, s.parent_id) a on sqlc.narg(role) is distinct from 'admin'
where seen.id > sqlc.arg(after)::text collate "C"
order by seen.id
limit sqlc.arg(page_size);

-- name: CountSpaces :one
-- Index: spaces_organization.
select count(*) from spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id));

-- name: ListSpacesInCollection :many
-- Index: spaces_parent (parent_id, position, id).
-- Spaces directly in the collection that the user may see. level and grant decide about the user's access to the
-- collection.
select sqlc.embed(s), coalesce(a.level, '')::text as level, coalesce(a.grant_rank, 0)::integer as grant_rank
from spaces_seen_in(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id), sqlc.arg(collection_id),
                    nullif(sqlc.arg(level)::text, ''), sqlc.arg(grant_rank)) seen
    join spaces s on s.id = seen.id
    left join access_to(sqlc.arg(user_id), s.id, s.default_level, s.parent_id) a on sqlc.narg(role) is distinct from 'admin'
where (seen.position, seen.id) > (sqlc.arg(after_position)::bigint, sqlc.arg(after)::text collate "C")
order by seen.position, seen.id
limit sqlc.arg(page_size);

-- name: CountSpacesInCollection :one
-- Index: spaces_parent.
select count(*)
from spaces_seen_in(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id), sqlc.arg(collection_id),
                    nullif(sqlc.arg(level)::text, ''), sqlc.arg(grant_rank));

-- name: UpdateSpace :one
-- Null leaves a member unchanged. Members that can be null are set only if their set_ parameter is true.
update spaces set
    title = coalesce(sqlc.narg(title), title),
    emoji = coalesce(sqlc.narg(emoji), emoji),
    icon = case when sqlc.arg(set_icon)::boolean then sqlc.narg(icon) else icon end,
    edit_mode = coalesce(sqlc.narg(edit_mode), edit_mode),
    language = coalesce(sqlc.narg(language), language),
    default_level = case when sqlc.arg(set_level)::boolean then sqlc.narg(default_level) else default_level end,
    merge_rules = coalesce(sqlc.narg(merge_rules), merge_rules),
    git_trusted = coalesce(sqlc.narg(git_trusted), git_trusted),
    updated_at = now()
where id = sqlc.arg(id)
returning *;

-- name: LockSitesOfSpace :many
-- In the order of their ids, so that transactions that lock several do not deadlock.
select id from sites where id in (select site_id from site_spaces where space_id = $1) order by id for no key update;

-- name: LockSpaceToDelete :many
-- Keeps sites from attaching the space; no row if it is gone.
select id from spaces where id = $1 for update;

-- name: InOtherSites :one
select exists (select from site_spaces where space_id = sqlc.arg(space_id) and site_id <> all(sqlc.arg(sites)::text[]));

-- name: DeleteSpace :exec
-- Its content goes later: see deleted_spaces.
with gone as (
    delete from spaces s where s.id = $1 returning s.id
)
insert into deleted_spaces (id) select gone.id from gone;

-- name: SpaceByID :one
-- For a caller whose right to it is already known.
select * from spaces where id = $1;

-- name: SpacesForSite :many
-- Until the transaction ends, the spaces neither go nor move to another organization.
select * from spaces where id = any(sqlc.arg(ids)::text[]) order by id for key share;

-- name: TitlesSeen :many
-- Returns the titles of the given spaces and collections of an organization that a user sees, with the newest
-- revision of a space.
-- Index: spaces_organization (organization_id, id), collections_id_organization_id_key.
select s.id, s.title, s.revision::text as revision
from spaces s
    join memberships m on m.organization_id = s.organization_id and m.user_id = sqlc.arg(user_id)
    cross join access_to(sqlc.arg(user_id), s.id, s.default_level, s.parent_id) a
where s.id = any(sqlc.arg(ids)::text[]) and s.organization_id = sqlc.arg(organization_id)
  and access_rank(m.role, a.level, a.grant_rank) > 0
union all
select c.id, c.title, '' as revision
from collections c
    join memberships m on m.organization_id = c.organization_id and m.user_id = sqlc.arg(user_id)
    cross join access_to(sqlc.arg(user_id), c.id, c.default_level, c.parent_id) a
where c.id = any(sqlc.arg(ids)::text[]) and c.organization_id = sqlc.arg(organization_id)
  and access_rank(m.role, a.level, a.grant_rank) > 0;

-- name: SeenBy :one
-- The part of an organization that a user sees, as one value: equal values are equal sights.
-- No index: all of the organization that the user sees.
select md5(coalesce(string_agg(o.id, ' ' order by o.id), ''))::text as seen
from memberships m
    cross join lateral (
        select s.id from spaces_seen(m.user_id, m.role, m.organization_id) s
        union all
        select c.id from collections_seen(m.user_id, m.role, m.organization_id) c
    ) o
where m.user_id = sqlc.arg(user_id) and m.organization_id = sqlc.arg(organization_id);
