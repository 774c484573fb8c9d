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
-- It is the row of the functions below and holds none itself: sqlc knows the columns of tables, and not those of other types.
create table content_access (
    content_id text    not null,
    level      text,
    grant_rank integer not null
);

-- +goose StatementBegin
-- What a user, or a team of the user, was given in an organization: on collections and on spaces, whose ids are all different.
create function grants_given(of_user text, of_organization text) returns setof content_access language sql stable
begin atomic
    select coalesce(g.collection_id, g.space_id), null::text, max(role_rank(g.role))
    from grants g
    where g.organization_id = of_organization
      and (g.user_id = of_user or g.team_id = any(array(select t.team_id from team_members t where t.user_id = of_user)))
    group by coalesce(g.collection_id, g.space_id);
end;
-- +goose StatementEnd

-- +goose StatementBegin
-- A user's access to every collection of an organization. The depth is that of store.MaxNesting.
create function collections_access(of_user text, of_organization text) returns setof content_access language sql stable
begin atomic
    with recursive given as (
        select g.content_id, g.grant_rank from grants_given(of_user, of_organization) g
    ), tree as (
        select c.id, c.default_level as level, coalesce((select g.grant_rank from given g where g.content_id = c.id), 0) as rank,
               1 as depth
        from collections c
        where c.organization_id = of_organization and c.parent_id is null
        union all
        select c.id, case when c.default_level = 'inherit' then t.level else c.default_level end,
               greatest(t.rank, coalesce((select g.grant_rank from given g where g.content_id = c.id), 0)), t.depth + 1
        from tree t join collections c on c.parent_id = t.id
        where t.depth < 16
    )
    select t.id, t.level, t.rank from tree t;
end;
-- +goose StatementEnd

-- +goose StatementBegin
-- A user's access to some spaces, of whatever organization.
create function spaces_access(of_user text, of_spaces text[]) returns setof content_access language sql stable
begin atomic
    with recursive mine as (
        select g.collection_id, g.space_id, role_rank(g.role) as rank from grants g where g.user_id = of_user
        union all
        select g.collection_id, g.space_id, role_rank(g.role)
        from team_members t join grants g on g.team_id = t.team_id
        where t.user_id = of_user
    ), path as (
        select s.id, s.parent_id, s.default_level as level,
               coalesce((select max(m.rank) from mine m where m.space_id = s.id), 0) as rank, 0 as depth
        from spaces s
        where s.id = any(of_spaces)
        union all
        select p.id, c.parent_id, case when p.level = 'inherit' then c.default_level else p.level end,
               greatest(p.rank, coalesce((select max(m.rank) from mine m where m.collection_id = c.id), 0)), p.depth + 1
        from path p join collections c on c.id = p.parent_id
        where p.depth < 16
    )
    select p.id, p.level, p.rank from path p where p.parent_id is null;
end;
-- +goose StatementEnd

-- +goose Down
drop function spaces_access(text, text[]);
drop function collections_access(text, text);
drop function grants_given(text, text);
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
