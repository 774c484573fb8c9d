-- name: LockOrganization :one
-- Every change of the order or the nesting of content holds this lock. Without it, two concurrent moves could make a
-- cycle, or give two items one position.
select id from organizations where id = $1 for no key update;

-- name: LockOrganizations :many
select id from organizations where id = any(sqlc.arg(ids)::text[]) order by id for no key update;

-- name: CollectionForUser :one
-- Returns the collection with the facts about the user's access to it. There is no row if the collection is unknown
-- or in another organization.
select sqlc.embed(c), m.role, coalesce(a.level, '')::text as level, a.grant_rank
from collections c
    join memberships m on m.organization_id = c.organization_id and m.user_id = sqlc.arg(user_id)
    cross join access_to(sqlc.arg(user_id), c.id, c.default_level, c.parent_id) a
where c.id = sqlc.arg(collection_id);

-- name: ListCollections :many
-- Index: collections_order (organization_id, depth, position, id).
-- Collections that the user may see. Parents come before their children, and children in their order. An admin's access
-- depends on the role alone.
select sqlc.embed(c), coalesce(a.level, '')::text as level, coalesce(a.grant_rank, 0)::integer as grant_rank
from collections_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) seen
    join collections c on c.id = seen.id
    left join access_to(sqlc.arg(user_id), c.id, c.default_level, c.parent_id) a on sqlc.narg(role) is distinct from 'admin'
where (seen.depth, seen.position, seen.id)
    > (sqlc.arg(after_depth)::integer, sqlc.arg(after_position)::bigint, sqlc.arg(after)::text collate "C")
  and (sqlc.arg(nested)::boolean or seen.parent_id is null)
order by seen.depth, seen.position, seen.id
limit sqlc.arg(page_size);

-- name: CountCollections :one
-- Index: collections_order.
select count(*)
from collections_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) seen
where sqlc.arg(nested)::boolean or seen.parent_id is null;

-- name: InsertCollection :one
insert into collections (id, organization_id, parent_id, title, position)
values ($1, $2, $3, $4, $5) returning *;

-- name: UpdateCollection :one
-- Null leaves a member unchanged. A null level is a value, so the level is set only if set_level is true.
update collections set
    title = coalesce(sqlc.narg(title), title),
    description = coalesce(sqlc.narg(description), description),
    default_level = case when sqlc.arg(set_level)::boolean then sqlc.narg(default_level) else default_level end
where id = sqlc.arg(id)
returning *;

-- name: CollectionInOrganization :one
select * from collections where id = $1 and organization_id = $2;

-- name: ContentPath :many
-- The collection or space, and the collections above it up to the top.
with recursive path as (
    select c.id, c.parent_id, 1 as depth from collections c where c.id = sqlc.arg(id)
    union all
    select s.id, s.parent_id, 0 from spaces s where s.id = sqlc.arg(id)
    union all
    select c.id, c.parent_id, p.depth + 1 from path p join collections c on c.id = p.parent_id where p.depth < 16
)
select id from path order by depth;

-- name: CollectionTree :many
-- The collection and the collections below it, with their depth.
with recursive tree as (
    select c.id, 1 as depth from collections c where c.id = sqlc.arg(id)
    union all
    select c.id, t.depth + 1 from tree t join collections c on c.parent_id = t.id where t.depth < 16
)
select id, depth::integer as depth from tree;

-- name: PlaceCollection :one
update collections set parent_id = sqlc.narg(parent_id), position = sqlc.arg(position) where id = sqlc.arg(id) returning *;

-- name: LiftAccess :exec
-- See store/access/5_lift.sql.
select lift_access(sqlc.arg(id)::text);

-- name: LiftContent :exec
-- Puts the direct content of a collection into another one, or at the top for null.
with spaces_up as (
    update spaces s set parent_id = sqlc.narg(parent_id) where s.parent_id = sqlc.arg(id)::text
)
update collections c set parent_id = sqlc.narg(parent_id) where c.parent_id = sqlc.arg(id)::text;

-- name: DeleteCollection :exec
delete from collections where id = $1;

-- name: SpacesArePublished :one
select exists (select 1 from site_spaces l where l.space_id = any(sqlc.arg(spaces)::text[]));

-- name: LockSpacesIn :many
-- No site can attach them until the transaction ends.
select id from spaces where parent_id = any(sqlc.arg(collections)::text[]) order by id for update;

-- name: TransferCollection :one
-- The collections and spaces in it follow by their foreign keys.
update collections set organization_id = sqlc.arg(organization_id), parent_id = null, position = sqlc.arg(position)
where id = sqlc.arg(id)
returning *;

-- name: TransferChangeRequests :exec
-- Issues clusters stay with their organization.
update change_requests set organization_id = sqlc.arg(organization_id), cluster_id = null
where space_id = any(sqlc.arg(spaces)::text[]);

-- name: TransferTranslations :exec
update translations set organization_id = sqlc.arg(organization_id) where source_space_id = any(sqlc.arg(spaces)::text[]);

-- name: DropLinkInvitesTo :exec
delete from link_invites
where collection_id = any(sqlc.arg(collections)::text[]) or space_id = any(sqlc.arg(spaces)::text[]);

-- name: TransferJobs :exec
-- Index: jobs_organization.
update river_job set metadata = jsonb_set(metadata, '{organization}', to_jsonb(sqlc.arg(organization_id)::text))
where metadata ->> 'organization' = sqlc.arg(from_id)::text and metadata ->> 'space' = any(sqlc.arg(spaces)::text[]);

-- name: DropForeignGrants :exec
-- Removes grants to teams and to users who are not in the organization.
delete from grants g
where (g.collection_id = any(sqlc.arg(collections)::text[]) or g.space_id = any(sqlc.arg(spaces)::text[]))
  and not exists (
      select 1 from memberships m where m.user_id = g.user_id and m.organization_id = sqlc.arg(organization_id)
  );

-- name: TransferGrants :exec
update grants set organization_id = sqlc.arg(organization_id)
where collection_id = any(sqlc.arg(collections)::text[]) or space_id = any(sqlc.arg(spaces)::text[]);
