-- +goose Up

-- The table has moments and days of a site that its graphs show.
create table insights_annotations (
    id                text collate "C" primary key,
    site_id           text collate "C" not null references sites (id) on delete cascade,
    kind              text        not null check (kind in ('manual', 'merge', 'publication', 'redirect', 'import')),
    -- Of a day, it is the day's first moment in the site's time zone.
    at                timestamptz not null,
    day               date,
    text              text        not null,
    -- No foreign keys: an annotation stays when what it is about, or its user, is deleted.
    pages             text[]      not null default '{}',
    space_id          text,
    path              text,
    change_request_id text,
    created_by        text,
    created_at        timestamptz not null default now()
);
create index insights_annotations_time on insights_annotations (site_id, at, id);
create index insights_annotations_kind on insights_annotations (site_id, kind, at, id);

-- The settings of a site's insights. A site without a row has the defaults of the columns. Days of retention have a
-- table of their own, because they outlive the site.
create table insights_settings (
    site_id     text collate "C" primary key references sites (id) on delete cascade,
    -- A name of the IANA database.
    timezone    text        not null default 'UTC',
    week_start  text        not null default 'monday',
    -- Names in lower case.
    hosts       text[]      not null default '{}',
    respect_gpc boolean     not null default true
);
