-- Collections, teams, and who was given access to what; what organizations, members and spaces can be set to.

-- +goose Up
create table collections (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    parent_id       text collate "C",
    title           text        not null,
    description     text        not null default '',
    -- As that of spaces.
    default_level   text check (default_level in ('inherit', 'admin', 'create', 'review', 'edit', 'comment', 'read')) default 'inherit',
    -- Collections and spaces with the same parent share one order: by position, then by id. Between any two positions there is another,
    -- so that a move changes one row and lists go on from where they were.
    position        numeric     not null default 0,
    created_at      timestamptz not null default now(),
    unique (id, organization_id),
    -- What is in a collection is of the collection's organization, also after the collection went to another.
    foreign key (parent_id, organization_id) references collections (id, organization_id) on update cascade
);

create index collections_order on collections (organization_id, position, id);
create index collections_parent on collections (parent_id, position, id);

alter table spaces
    add column parent_id   text collate "C",
    add column position    numeric not null default 0,
    add column icon        text,
    add column merge_rules jsonb   not null default '{"type": "inherit"}',
    add unique (id, organization_id),
    add foreign key (parent_id, organization_id) references collections (id, organization_id) on update cascade;

create index spaces_parent on spaces (parent_id, position, id);

update spaces s set position = k.n
from (select id, row_number() over (partition by organization_id order by id) as n from spaces) k
where k.id = s.id;

alter table memberships
    add column last_seen_at timestamptz,
    -- The member signs in through the organization's provider.
    add column sso boolean not null default false;

create index memberships_joined on memberships (organization_id, joined_at, user_id);
create index memberships_seen on memberships (organization_id, coalesce(last_seen_at, 'epoch'), user_id);

alter table organizations
    add column hostname     text collate "C" unique,
    add column logo         text,
    add column default_site text collate "C" references sites (id) on delete set null,
    add column merge_rules  jsonb   not null default '{"type": "none"}',
    add column sso          boolean not null default false,
    add column ai           boolean not null default false;

create table teams (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    title           text        not null,
    created_at      timestamptz not null default now()
);

create index teams_organization on teams (organization_id, id);

-- Whoever leaves the organization leaves its teams.
create table team_members (
    team_id         text collate "C" not null references teams (id) on delete cascade,
    user_id         text collate "C" not null,
    organization_id text collate "C" not null,
    role            text        not null default 'member' check (role in ('owner', 'member')),
    primary key (team_id, user_id),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);

create index team_members_user on team_members (user_id, organization_id);

-- What a member or a team was given on a collection, with all that is in it, or on a space.
create table grants (
    organization_id text collate "C" not null,
    collection_id   text collate "C" references collections (id) on delete cascade,
    space_id        text collate "C" references spaces (id) on delete cascade,
    user_id         text collate "C",
    team_id         text collate "C" references teams (id) on delete cascade,
    role            text        not null check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    created_at      timestamptz not null default now(),
    check (num_nonnulls(collection_id, space_id) = 1),
    check (num_nonnulls(user_id, team_id) = 1),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);

create unique index grants_once on grants (collection_id, space_id, user_id, team_id) nulls not distinct;
create index grants_collection_user on grants (collection_id, user_id) where user_id is not null;
create index grants_collection_team on grants (collection_id, team_id) where team_id is not null;
create index grants_space on grants (space_id) where space_id is not null;
create index grants_user on grants (user_id, organization_id) where user_id is not null;
create index grants_team on grants (team_id) where team_id is not null;

-- The roles' ranks, as schema.Role has them; the guest, who is null, has 0.
create function role_rank(role text) returns integer language sql immutable
return coalesce(array_position(array['read', 'comment', 'edit', 'review', 'create', 'admin'], role), 0);

-- The rule of api.RightsOf, for lists: the rank of the role that somebody has on a piece of content, 0 for no access at all.
create function access_rank(role text, level text, grant_rank integer) returns integer language sql immutable
return case
    when role = 'admin' then 6
    else greatest(grant_rank, case
        when role is null or level is null then 0
        when level = 'inherit' then role_rank(role)
        else role_rank(level)
    end)
end;

-- What decides about a user's access to a piece of content, beside the role in the organization: the level that holds there, which is
-- 'inherit' only where nothing up to the top says otherwise, and the highest of the user's grants there and above.
-- It is the row of access_to and holds none itself: sqlc knows the columns of tables, and not those of other types.
create table content_access (
    level      text,
    grant_rank integer not null
);

-- The functions below are no more than names: Postgres puts their text into the query that calls them and plans both as one. So they
-- are plain selects, and those that return rows of a table are text, which also gives the columns that later migrations add.
-- How many rows a recursion gives Postgres can only guess, and far too many at that. Of an array it expects few entries, and so it always
-- looks ids up in a hash of them: hence unnest(array()).

-- +goose StatementBegin
-- A user's access to a collection or a space, of which it is told the level and the parent. It climbs from there to the top, at most as
-- deep as store.MaxNesting: cheap for a page of content, and not for all content that there is.
create function access_to(of_user text, content text, content_level text, content_parent text) returns setof content_access
    language sql stable
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
                   (select max(role_rank(g.role)) from grants g where g.collection_id = p.id and g.user_id = of_user),
                   (select max(role_rank(g.role)) from grants g
                    where g.collection_id = p.id and g.team_id = any((select t.ids from teams t)::text[]))))
                from path p),
               (select max(role_rank(g.role)) from grants g
                where g.space_id = content and (g.user_id = of_user or g.team_id = any((select t.ids from teams t)::text[]))),
               0);
end;
-- +goose StatementEnd

-- +goose StatementBegin
-- What a user, or a team of the user, was given in an organization.
create function grants_of(of_user text, of_organization text) returns setof grants language sql stable as $$
    select g.*
    from grants g
    where g.organization_id = of_organization
      and (g.user_id = of_user or g.team_id = any(array(select t.team_id from team_members t where t.user_id = of_user)))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The collections that a user gets into by a grant, there or above.
create function given_collections(of_user text, of_organization text) returns setof text language sql stable as $$
    with recursive given as (
        select g.collection_id as id from grants_of(of_user, of_organization) g where g.collection_id is not null
        union
        select c.id from given p join collections c on c.parent_id = p.id
    )
    select unnest(array(select g.id from given g))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The collections that nobody gets into but by a grant: no level holds there.
create function closed_collections(of_organization text) returns setof text language sql stable as $$
    with recursive closed as (
        select c.id from collections c where c.organization_id = of_organization and c.default_level is null
        union
        select c.id
        from closed p join collections c on c.parent_id = p.id and c.organization_id = of_organization
        where c.default_level = 'inherit'
    )
    select unnest(array(select c.id from closed c))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The collections of an organization that a member of this role sees: those where access_rank is above 0. An admin sees them all, and
-- nothing is looked up for it.
create function collections_seen(of_user text, of_role text, of_organization text) returns setof collections language sql stable as $$
    select c.*
    from collections c
    where c.organization_id = of_organization
      and (of_role = 'admin'
           or of_role is not null and c.id not in (select x.id from closed_collections(of_organization) x (id))
           or c.id in (select x.id from given_collections(of_user, of_organization) x (id)))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The spaces of an organization that nobody sees but by a grant.
create function closed_spaces(of_organization text) returns setof spaces language sql stable as $$
    select s.*
    from spaces s
    where s.organization_id = of_organization
      and case
          when s.default_level = 'inherit' then s.parent_id in (select x.id from closed_collections(of_organization) x (id))
          else s.default_level is null
      end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The spaces of an organization that a member of this role sees, as collections_seen.
create function spaces_seen(of_user text, of_role text, of_organization text) returns setof spaces language sql stable as $$
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
-- +goose StatementEnd

-- +goose Down
drop function spaces_seen(text, text, text);
drop function closed_spaces(text);
drop function collections_seen(text, text, text);
drop function closed_collections(text);
drop function given_collections(text, text);
drop function grants_of(text, text);
drop function access_to(text, text, text, text);
drop table content_access;
drop function access_rank(text, text, integer);
drop function role_rank(text);
drop table grants;
drop table team_members;
drop table teams;
alter table organizations
    drop column hostname,
    drop column logo,
    drop column default_site,
    drop column merge_rules,
    drop column sso,
    drop column ai;
drop index memberships_joined;
alter table memberships
    drop column last_seen_at,
    drop column sso;
alter table spaces
    drop column parent_id,
    drop column position,
    drop column icon,
    drop column merge_rules,
    drop constraint spaces_id_organization_id_key;
drop table collections;
