-- name: InsertSpace :one
insert into spaces (id, organization_id, title, emoji, edit_mode, language, revision)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: SpaceForUser :one
-- The space with the user's role in its organization; no row for a foreign or unknown space.
select sqlc.embed(s), m.role
from spaces s join memberships m on m.organization_id = s.organization_id
where s.id = sqlc.arg(space_id) and m.user_id = sqlc.arg(user_id);

-- name: ListSpaces :many
-- Index: spaces_organization (organization_id, id).
select * from spaces
where organization_id = sqlc.arg(organization_id)
  and id > sqlc.arg(after)::text collate "C"
  and (sqlc.arg(hidden_too)::boolean or default_level is not null)
order by id
limit sqlc.arg(page_size);

-- name: CountSpaces :one
-- Index: spaces_organization.
select count(*) from spaces
where organization_id = sqlc.arg(organization_id) and (sqlc.arg(hidden_too)::boolean or default_level is not null);

-- name: SpacesByID :many
-- Those of the spaces that are the organization's.
select * from spaces where organization_id = sqlc.arg(organization_id) and id = any(sqlc.arg(ids)::text[]);
