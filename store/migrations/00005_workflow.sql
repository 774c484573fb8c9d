-- Revisions of spaces and the change requests between them; the counters that spaces show.

-- +goose Up

-- A revision never changes. Its pages are a tree in `pages`; a page's document is named there and kept in its own table.
create table revisions (
    id                text collate "C" primary key,
    space_id          text collate "C" not null references spaces (id) on delete cascade,
    type              text        not null check (type in ('edits', 'merge', 'rollback', 'update', 'computed')),
    parents           text[]      not null default '{}',
    pages             jsonb       not null default '[]',
    files             jsonb       not null default '[]',
    -- The change request that a merge took in.
    change_request_id text collate "C",
    created_by        text collate "C" references users (id) on delete set null,
    created_at        timestamptz not null default now()
);

create index revisions_space on revisions (space_id, id);

-- Spaces that are there already have a head that no row stands for: an empty one.
insert into revisions (id, space_id, type, created_at) select revision, id, 'edits', created_at from spaces;

create table change_requests (
    id                       text collate "C" primary key,
    space_id                 text collate "C" not null references spaces (id) on delete cascade,
    organization_id          text collate "C" not null references organizations (id) on delete cascade,
    -- Counts up within the space, without gaps that anybody could rely on.
    number                   integer     not null,
    status                   text        not null check (status in ('draft', 'open', 'archived', 'merged')),
    subject                  text        not null default '',
    description              jsonb,
    created_by               text collate "C" not null references users (id),
    revision                 text        not null,
    revision_initial         text        not null,
    revision_merged_ancestor text,
    revision_merged          text,
    -- The issues cluster that it answers.
    cluster_id               text collate "C",
    open_comments            bigint      not null default 0,
    created_at               timestamptz not null default now(),
    updated_at               timestamptz not null default now(),
    unique (space_id, number)
);

create index change_requests_space_updated on change_requests (space_id, updated_at desc, id desc);
create index change_requests_space_created on change_requests (space_id, created_at desc, id desc);
create index change_requests_organization_updated on change_requests (organization_id, updated_at desc, id desc);
create index change_requests_organization_created on change_requests (organization_id, created_at desc, id desc);

-- What a space shows of what is in it. The statements that change the counted rows change these in the same transaction.
alter table spaces
    add column open_comments         bigint  not null default 0,
    add column change_requests       integer not null default 0,
    add column change_requests_open  integer not null default 0,
    add column change_requests_draft integer not null default 0,
    -- The number of the newest change request.
    add column change_request_number integer not null default 0;

-- +goose Down
alter table spaces
    drop column open_comments,
    drop column change_requests,
    drop column change_requests_open,
    drop column change_requests_draft,
    drop column change_request_number;
drop table change_requests;
drop table revisions;
