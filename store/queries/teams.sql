-- name: InsertTeam :one
insert into teams (id, organization_id, title) values ($1, $2, $3) returning *;

-- name: TeamInOrganization :one
select * from teams where id = $1 and organization_id = $2;

-- name: LockTeam :one
select * from teams where id = $1 and organization_id = $2 for no key update;

-- name: ListTeams :many
-- Index: teams_organization (organization_id, id).
select t.* from teams t
where t.organization_id = sqlc.arg(organization_id)
  and t.id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(title)::text is null or strpos(lower(t.title), lower(sqlc.narg(title))) > 0)
  and (sqlc.narg(owner)::text is null
       or exists (select 1 from team_members m where m.team_id = t.id and m.user_id = sqlc.narg(owner) and m.role = 'owner'))
order by t.id
limit sqlc.arg(page_size);

-- name: CountTeams :one
-- Index: teams_organization.
select count(*) from teams t
where t.organization_id = sqlc.arg(organization_id)
  and (sqlc.narg(title)::text is null or strpos(lower(t.title), lower(sqlc.narg(title))) > 0)
  and (sqlc.narg(owner)::text is null
       or exists (select 1 from team_members m where m.team_id = t.id and m.user_id = sqlc.narg(owner) and m.role = 'owner'));

-- name: MembersNamed :many
-- The members of an organization whose ids or e-mail addresses these texts are.
select n.name::text as name, m.user_id
from unnest(sqlc.arg(names)::text[]) n (name)
    join memberships m on m.organization_id = sqlc.arg(organization_id) and m.user_id = n.name collate "C"
union all
select n.name::text, m.user_id
from unnest(sqlc.arg(names)::text[]) n (name)
    join users u on lower(u.email) = lower(n.name)
    join memberships m on m.organization_id = sqlc.arg(organization_id) and m.user_id = u.id;

-- name: ListTeamMembers :many
-- Index: team_members_pkey (team_id, user_id).
select t.role, sqlc.embed(m), sqlc.embed(u)
from team_members t
    join memberships m on m.user_id = t.user_id and m.organization_id = t.organization_id
    join users u on u.id = t.user_id
where t.team_id = sqlc.arg(team_id) and t.user_id > sqlc.arg(after)::text collate "C"
order by t.user_id
limit sqlc.arg(page_size);

-- name: CountTeamMembers :one
-- Index: team_members_pkey.
select count(*) from team_members where team_id = $1;

-- name: InsertTeamMembers :exec
-- Adds members of the team's organization to the team; members who are in it keep their role.
insert into team_members (team_id, user_id, organization_id, role)
select t.id, m.user_id, t.organization_id, sqlc.arg(role)
from teams t join memberships m on m.organization_id = t.organization_id
where t.id = sqlc.arg(team_id) and m.user_id = any(sqlc.arg(users)::text[])
on conflict (team_id, user_id) do nothing;

-- name: SetTeamRoles :execrows
update team_members set role = sqlc.arg(role) where team_id = sqlc.arg(team_id) and user_id = any(sqlc.arg(users)::text[]);

-- name: DeleteTeamMembers :exec
delete from team_members where team_id = sqlc.arg(team_id) and user_id = any(sqlc.arg(users)::text[]);

-- name: TeamRoles :many
-- What a user is in these teams.
select team_id, role from team_members where user_id = sqlc.arg(user_id) and team_id = any(sqlc.arg(teams)::text[]);

-- name: TeamNumbers :many
-- How many members these teams have, and how many spaces were given to them.
with given as (
    select g.team_id, count(*) as spaces from spaces_of_teams(sqlc.arg(teams)::text[]) g (team_id, space_id) group by g.team_id
)
select t.id, (select count(*) from team_members m where m.team_id = t.id) as members, coalesce(g.spaces, 0)::bigint as spaces
from teams t left join given g on g.team_id = t.id
where t.id = any(sqlc.arg(teams)::text[]);

-- name: DeleteTeam :exec
delete from teams where id = $1 and organization_id = $2;
