-- access_to returns two facts about a user's access to one collection or space: the effective level, and the rank of
-- the user's highest grant on the content and above. The effective level is 'inherit' if the content and all
-- collections above it inherit their level. The caller passes the content's own level and parent. The function climbs
-- to the top, at most store.MaxNesting levels. This is cheap for a page of a list, but too expensive for all content of
-- an organization.
create or replace function access_to(of_user text, content text, content_level text, content_parent text)
    returns setof content_access language sql stable
begin atomic
    with recursive path as (
        select content collate "C" as id, content_parent collate "C" as parent_id, content_level as level, 0 as depth
        union all
        select c.id, c.parent_id, case when p.level = 'inherit' then c.default_level else p.level end, p.depth + 1
        from path p join collections c on c.id = p.parent_id
        where p.depth < 16
    ), teams as (
        select array(select t.team_id from team_members t where t.user_id = of_user) as ids
    )
    select (select p.level from path p where p.parent_id is null),
           greatest(
               (select max(greatest(
                   (select max(role_rank(g.role)) from grants g where g.content_id = p.id and g.user_id = of_user),
                   (select max(role_rank(g.role)) from grants g
                    where g.content_id = p.id and g.team_id = any((select t.ids from teams t)::text[]))))
                from path p),
               0);
end;
