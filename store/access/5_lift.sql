-- lift_access copies a collection's level and grants to its direct content. So when the collection is then deleted, the
-- access of all users stays the same. The level is copied to content that inherits its level. A grant is copied if the
-- content has no higher grant for the same user or team.
create or replace function lift_access(of_collection text) returns void language sql volatile as $$
    update spaces s set default_level = c.default_level
    from collections c
    where c.id = of_collection and c.default_level is distinct from 'inherit'
      and s.parent_id = c.id and s.default_level = 'inherit';

    update collections x set default_level = c.default_level
    from collections c
    where c.id = of_collection and c.default_level is distinct from 'inherit'
      and x.parent_id = c.id and x.default_level = 'inherit';

    insert into grants (organization_id, collection_id, space_id, user_id, team_id, role)
    select g.organization_id, k.collection_id, k.space_id, g.user_id, g.team_id, g.role
    from grants g cross join (
        select c.id as collection_id, null::text as space_id from collections c where c.parent_id = of_collection
        union all
        select null, s.id from spaces s where s.parent_id = of_collection
    ) k
    where g.collection_id = of_collection
    on conflict (collection_id, space_id, user_id, team_id) do update set role = excluded.role
    where role_rank(grants.role) < role_rank(excluded.role);
$$;
