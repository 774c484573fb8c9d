-- name: InsertGrants :execrows
-- Gives access to users and teams, or changes their access. Users and teams outside the organization are left out.
insert into grants (organization_id, collection_id, space_id, user_id, team_id, role)
select sqlc.arg(organization_id), sqlc.narg(collection_id), sqlc.narg(space_id), x.user_id, x.team_id, sqlc.arg(role)
from (
    select m.user_id, null::text as team_id from memberships m
    where m.organization_id = sqlc.arg(organization_id) and m.user_id = any(sqlc.arg(users)::text[])
    union all
    select null, t.id from teams t
    where t.organization_id = sqlc.arg(organization_id) and t.id = any(sqlc.arg(teams)::text[])
) x
on conflict (collection_id, space_id, user_id, team_id) do update set role = excluded.role;

-- name: DeleteGrants :execrows
delete from grants
where content_id = sqlc.arg(content_id)::text
  and (user_id = any(sqlc.arg(users)::text[]) or team_id = any(sqlc.arg(teams)::text[]));

-- name: UpdateGrants :execrows
update grants set role = coalesce(sqlc.narg(role), role)
where content_id = sqlc.arg(content_id)::text
  and (user_id = any(sqlc.arg(users)::text[]) or team_id = any(sqlc.arg(teams)::text[]));

-- name: KnownSubjects :one
-- How many of these users and teams are in an organization.
select (select count(*) from memberships m where m.organization_id = sqlc.arg(organization_id) and m.user_id = any(sqlc.arg(users)::text[]))
     + (select count(*) from teams t where t.organization_id = sqlc.arg(organization_id) and t.id = any(sqlc.arg(teams)::text[])) as known;

-- name: ListGrantedUsers :many
-- Index: grants_content_user (content_id, user_id).
select sqlc.embed(u), g.role
from grants g join users u on u.id = g.user_id
where g.content_id = sqlc.arg(content_id)::text and g.user_id > sqlc.arg(after)::text collate "C"
order by g.user_id
limit sqlc.arg(page_size);

-- name: CountGrantedUsers :one
-- Index: grants_content_user.
select count(*) from grants where content_id = sqlc.arg(content_id)::text and user_id is not null;

-- name: ListGrantedTeams :many
-- Index: grants_content_team (content_id, team_id).
select sqlc.embed(t), g.role
from grants g join teams t on t.id = g.team_id
where g.content_id = sqlc.arg(content_id)::text and g.team_id > sqlc.arg(after)::text collate "C"
order by g.team_id
limit sqlc.arg(page_size);

-- name: CountGrantedTeams :one
-- Index: grants_content_team.
select count(*) from grants where content_id = sqlc.arg(content_id)::text and team_id is not null;

-- name: ListContentAccess :many
-- Index: memberships_organization (organization_id, user_id).
-- The members who have access to a collection or space, with the rank of the role there.
select sqlc.embed(u), r.rank::integer as rank
from ranks_on_content(sqlc.arg(organization_id), nullif(sqlc.arg(level)::text, ''), sqlc.arg(path)::text[])
    r (user_id, rank)
    join users u on u.id = r.user_id
where r.user_id > sqlc.arg(after)::text collate "C"
  and r.rank between sqlc.arg(least)::integer and sqlc.arg(most)::integer
order by r.user_id
limit sqlc.arg(page_size);

-- name: CountContentAccess :one
-- No index: every index that starts with the organization does as well.
select count(*)
from ranks_on_content(sqlc.arg(organization_id), nullif(sqlc.arg(level)::text, ''), sqlc.arg(path)::text[])
    r (user_id, rank)
where r.rank between sqlc.arg(least)::integer and sqlc.arg(most)::integer;
