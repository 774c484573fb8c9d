-- The functions in this file return the content that a member sees in lists: the content with an access_rank above 0.
-- Each function decides about all content of an organization or a collection at once.
--
-- Functions that return rows of a table have a text body, so that they also return columns added by later migrations.
-- Postgres overestimates the number of rows of a recursive query. With unnest(array()), Postgres expects few rows, and
-- looks ids up in a hash.

-- grants_of returns the grants of a user in an organization: grants to the user, and grants to the user's teams.
create or replace function grants_of(of_user text, of_organization text) returns setof grants language sql stable as $$
    select g.*
    from grants g
    where g.organization_id = of_organization
      and (g.user_id = of_user or g.team_id = any(array(select t.team_id from team_members t where t.user_id = of_user)))
$$;

-- given_collections returns the collections that a user can enter by a grant on the collection or on a collection above
-- it.
create or replace function given_collections(of_user text, of_organization text) returns setof text language sql stable as $$
    with recursive given as (
        select g.collection_id as id from grants_of(of_user, of_organization) g where g.collection_id is not null
        union
        select c.id from given p join collections c on c.parent_id = p.id
    )
    select unnest(array(select g.id from given g))
$$;

-- closed_collections returns the collections that nobody can enter without a grant. They have no default level, or
-- inherit from a collection without a default level.
create or replace function closed_collections(of_organization text) returns setof text language sql stable as $$
    with recursive closed as (
        select c.id from collections c where c.organization_id = of_organization and c.default_level is null
        union
        select c.id
        from closed p join collections c on c.parent_id = p.id and c.organization_id = of_organization
        where c.default_level = 'inherit'
    )
    select unnest(array(select c.id from closed c))
$$;

-- collections_seen returns the collections of an organization that a member with this role sees. An admin sees all
-- collections, without a look-up of grants.
create or replace function collections_seen(of_user text, of_role text, of_organization text)
    returns setof collections language sql stable as $$
    select c.*
    from collections c
    where c.organization_id = of_organization
      and (of_role = 'admin'
           or of_role is not null and c.id not in (select x.id from closed_collections(of_organization) x (id))
           or c.id in (select x.id from given_collections(of_user, of_organization) x (id)))
$$;

-- closed_spaces returns the spaces of an organization that nobody sees without a grant.
create or replace function closed_spaces(of_organization text) returns setof spaces language sql stable as $$
    select s.*
    from spaces s
    where s.organization_id = of_organization
      and case
          when s.default_level = 'inherit' then s.parent_id in (select x.id from closed_collections(of_organization) x (id))
          else s.default_level is null
      end
$$;

-- spaces_seen returns the spaces of an organization that a member with this role sees. An admin sees all spaces,
-- without a look-up of grants.
create or replace function spaces_seen(of_user text, of_role text, of_organization text)
    returns setof spaces language sql stable as $$
    select s.*
    from spaces s
    where s.organization_id = of_organization
      and (of_role = 'admin'
           or of_role is not null and case
               when s.default_level = 'inherit' and s.parent_id is not null
               then s.parent_id not in (select x.id from closed_collections(of_organization) x (id))
               else s.default_level is not null
           end
           or s.parent_id in (select x.id from given_collections(of_user, of_organization) x (id))
           or s.id in (select g.space_id from grants_of(of_user, of_organization) g where g.space_id is not null))
$$;

-- spaces_seen_in returns the spaces directly in a collection that a member with this role sees. of_level and of_grant
-- are the result of access_to for the collection. So the function does not read other collections.
create or replace function spaces_seen_in(
    of_user text, of_role text, of_organization text, of_collection text, of_level text, of_grant integer
) returns setof spaces language sql stable as $$
    select s.*
    from spaces s
    where s.parent_id = of_collection
      and (access_rank(of_role, case when s.default_level = 'inherit' then of_level else s.default_level end, of_grant) > 0
           or s.id in (select g.space_id from grants_of(of_user, of_organization) g where g.space_id is not null))
$$;
