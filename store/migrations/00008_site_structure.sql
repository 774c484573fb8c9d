-- The structure of sites: sections, the groups they stand in, and site spaces; share links and redirects.
--
-- Order: `position` counts within the parent, with gaps, and `rank` spells the positions from the root down to the row, so
-- that the ranks of a site sort like its structure from top to bottom. Lists page by rank. A row's rank changes only when the
-- row or something above it is moved, so a page neither skips nor repeats what stays where it is. Only writers that hold the
-- lock of the site's row change positions, and they leave every rank right.

-- +goose Up
alter table sites
    add column basename         text,
    -- Null until somebody decides.
    add column adaptive_content boolean,
    add column proxy            text;

create unique index sites_basename on sites (basename, organization_id);

create table site_section_groups (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    parent_id  text collate "C" references site_section_groups (id) on delete set null,
    title      text        not null,
    icon       text,
    position   bigint      not null,
    rank       text collate "C" not null default '',
    created_at timestamptz not null default now()
);

create index site_section_groups_rank on site_section_groups (site_id, rank);

create index site_section_groups_parent on site_section_groups (parent_id);

create table site_sections (
    id          text collate "C" primary key,
    site_id     text collate "C" not null references sites (id) on delete cascade,
    group_id    text collate "C" references site_section_groups (id) on delete set null,
    title       text        not null,
    description text,
    path        text collate "C" not null,
    condition   text,
    icon        text,
    is_default  boolean     not null default false,
    position    bigint      not null,
    rank        text collate "C" not null default '',
    created_at  timestamptz not null default now(),
    constraint site_sections_path unique (site_id, path)
);

create index site_sections_rank on site_sections (site_id, rank);
create unique index site_sections_default on site_sections (site_id) where is_default;
create index site_sections_group on site_sections (group_id);

-- A site space stands in a section, or at the root of a site that has none. The same space may stand in several sections.
alter table site_spaces
    drop constraint site_spaces_site_id_space_id_key,
    alter column position type bigint,
    add column section_id text collate "C" references site_sections (id) on delete cascade,
    add column path       text collate "C" not null default '',
    add column condition  text,
    add column hidden     boolean not null default false,
    add column is_default boolean not null default false,
    add column rank       text collate "C" not null default '';

with numbered as (
    select l.id, row_number() over (partition by l.site_id order by l.position, l.id) as number,
           coalesce(nullif(trim(both '-' from left(regexp_replace(lower(s.title), '[^a-z0-9]+', '-', 'g'), 80)), ''), 'space') as slug
    from site_spaces l join spaces s on s.id = l.space_id
)
update site_spaces l
set position   = n.number << 32,
    rank       = lpad(to_hex(n.number << 32), 16, '0'),
    is_default = n.number = 1,
    -- Only the number makes paths distinct, so a title that ends like one gets it as well.
    path       = n.slug || case when n.number = 1 and n.slug !~ '-[0-9]+$' then '' else '-' || n.number end
from numbered n where n.id = l.id;

alter table site_spaces
    alter column path drop default;

create index site_spaces_rank on site_spaces (site_id, rank);
create unique index site_spaces_path on site_spaces (path, site_id, section_id) nulls not distinct;
create unique index site_spaces_once on site_spaces (space_id, site_id, section_id) nulls not distinct;
create unique index site_spaces_default on site_spaces (site_id, section_id) nulls not distinct where is_default;
-- site_spaces_once finds the sites of a space as well.
drop index site_spaces_space;
create index site_spaces_section on site_spaces (section_id, rank);

-- After the default has left a section, or the root, the next in order is the default; after the last, the first.
-- +goose StatementBegin
create function promote_site_space(site text, section text, after text) returns void language sql as $$
    update site_spaces set is_default = true
    where id = (select l.id from site_spaces l
                where l.site_id = site and l.section_id is not distinct from section
                order by l.rank < after, l.rank limit 1)
      and not exists (select from site_spaces l
                      where l.site_id = site and l.section_id is not distinct from section and l.is_default)
$$;
-- +goose StatementEnd

-- Site spaces also go when their space goes, which asks nobody. The lock waits for writers that add one meanwhile.
-- +goose StatementBegin
create function site_spaces_gone() returns trigger language plpgsql as $$
begin
    perform from sites where id in (select site_id from gone where is_default) for no key update;
    perform promote_site_space(site_id, section_id, rank) from gone where is_default;
    return null;
end
$$;
-- +goose StatementEnd

create trigger site_spaces_gone after delete on site_spaces
    referencing old table as gone for each statement execute function site_spaces_gone();

create table share_links (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    name       text        not null,
    -- Whoever has the key may read the site; it is part of the addresses that are handed out, so it is kept as it is.
    key        text collate "C" not null unique,
    active     boolean     not null default true,
    created_at timestamptz not null default now()
);

create index share_links_site on share_links (site_id, id);

-- What a redirect leads to may go away without it: the ids refer to nothing that the database keeps.
create table site_redirects (
    id              text collate "C" primary key,
    site_id         text collate "C" not null references sites (id) on delete cascade,
    source          text        not null,
    -- The source as sources are compared: see store.NormalSource.
    source_key      text collate "C" not null,
    kind            text        not null check (kind in ('site-section', 'site-space', 'site-page', 'external')),
    site_section_id text collate "C",
    site_space_id   text collate "C",
    page_id         text,
    url             text,
    created_at      timestamptz not null default now(),
    constraint site_redirects_source unique (source_key, site_id)
);

create index site_redirects_site on site_redirects (site_id, id);

-- +goose Down
drop table site_redirects;
drop table share_links;
create index site_spaces_space on site_spaces (space_id, site_id);
drop trigger site_spaces_gone on site_spaces;
drop function site_spaces_gone;
drop function promote_site_space;
drop index site_spaces_section;
drop index site_spaces_rank;
drop index site_spaces_default;
drop index site_spaces_once;
drop index site_spaces_path;
-- Positions count within the site again, and a space that stands in several sections stays once.
delete from site_spaces l using site_spaces o where o.site_id = l.site_id and o.space_id = l.space_id and o.id < l.id;
with numbered as (select id, row_number() over (partition by site_id order by rank) - 1 as number from site_spaces)
update site_spaces l set position = n.number from numbered n where n.id = l.id;
alter table site_spaces
    drop column section_id,
    drop column path,
    drop column condition,
    drop column hidden,
    drop column is_default,
    drop column rank,
    alter column position type integer,
    add unique (site_id, space_id);
drop table site_sections;
drop table site_section_groups;
alter table sites
    drop column basename,
    drop column adaptive_content,
    drop column proxy;
