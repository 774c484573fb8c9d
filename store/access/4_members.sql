-- The functions in this file find the members who have access to content, and their ranks there.

-- ranks_on_content returns the rank of each member's role on a collection or space. The rank 0 means no access.
-- of_level is the effective level of the content, as access_to returns it. of_path has the ids from the content up to
-- the top.
create or replace function ranks_on_content(of_organization text, of_level text, of_path text[])
    returns table (user_id text, rank integer) language sql stable as $$
    select m.user_id, access_rank(m.role, of_level, greatest(
        (select max(role_rank(g.role)) from grants g where g.content_id = any(of_path) and g.user_id = m.user_id),
        (select max(role_rank(g.role)) from team_members t join grants g on g.team_id = t.team_id
         where t.user_id = m.user_id and g.content_id = any(of_path)),
        0))
    from memberships m
    where m.organization_id = of_organization
$$;

-- ranks_on_collection is the former name of ranks_on_content. Nodes without the migration 00008 still call it.
create or replace function ranks_on_collection(of_organization text, of_level text, of_path text[])
    returns table (user_id text, rank integer) language sql stable as $$
    select r.user_id, r.rank from ranks_on_content(of_organization, of_level, of_path) r
$$;

-- spaces_seen_by returns the number of an organization's spaces that each of these members sees. An admin sees all
-- spaces. A guest sees the spaces on which the guest has a grant. Other members also see all open spaces.
create or replace function spaces_seen_by(of_organization text, of_users text[])
    returns table (user_id text, spaces bigint) language sql stable as $$
    with recursive given as (
        select g.user_id, g.collection_id, g.space_id from grants g
        where g.organization_id = of_organization and g.user_id = any(of_users)
        union
        select t.user_id, g.collection_id, g.space_id
        from team_members t join grants g on g.team_id = t.team_id
        where t.organization_id = of_organization and t.user_id = any(of_users)
    ), reach as (
        select g.user_id, g.collection_id as id from given g where g.collection_id is not null
        union
        select r.user_id, c.id from reach r join collections c on c.parent_id = r.id
    ), mine as (
        select r.user_id, s.id from reach r join spaces s on s.parent_id = r.id
        union
        select g.user_id, g.space_id from given g where g.space_id is not null
    ), closed as (
        select s.id from closed_spaces(of_organization) s
    ), there as (
        select (select count(*) from spaces s where s.organization_id = of_organization) as every,
               (select count(*) from closed) as closed
    ), numbers as (
        select x.user_id, count(*) as given, count(c.id) as closed from mine x left join closed c on c.id = x.id group by x.user_id
    )
    select m.user_id, case
        when m.role = 'admin' then t.every
        when m.role is null then coalesce(n.given, 0)
        else t.every - t.closed + coalesce(n.closed, 0)
    end
    from memberships m cross join there t left join numbers n on n.user_id = m.user_id
    where m.organization_id = of_organization and m.user_id = any(of_users)
$$;

-- spaces_of_teams returns the spaces that were granted to these teams, directly or by a collection above the space.
create or replace function spaces_of_teams(of_teams text[]) returns table (team_id text, space_id text) language sql stable as $$
    with recursive reach as (
        select g.team_id, g.collection_id as id from grants g where g.team_id = any(of_teams) and g.collection_id is not null
        union
        select r.team_id, c.id from reach r join collections c on c.parent_id = r.id
    )
    select r.team_id, s.id from reach r join spaces s on s.parent_id = r.id
    union
    select g.team_id, g.space_id from grants g where g.team_id = any(of_teams) and g.space_id is not null
$$;
