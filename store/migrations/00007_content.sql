-- The documents of pages, files, who took part in change requests, and the text of spaces' current content for search.

-- +goose Up

-- A document never changes: its hash is of its canonical JSON. It belongs to an organization, so that nobody learns from a
-- hash what another tenant has, and goes with it.
create table documents (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    hash            text collate "C" not null,
    content         jsonb       not null,
    created_at      timestamptz not null default now(),
    primary key (organization_id, hash)
);

-- The bytes of files, by their own hash; a revision names the files that it has.
create table files (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    hash            text collate "C" not null,
    content         bytea       not null,
    created_at      timestamptz not null default now(),
    primary key (organization_id, hash)
);

-- Who made a change request or changed its content.
create table change_request_contributors (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id) on delete cascade,
    primary key (change_request_id, user_id)
);

insert into change_request_contributors (change_request_id, user_id) select id, created_by from change_requests;

-- The pages of each space's head that can be searched. Whoever moves the head changes these in the same transaction.
create table search_pages (
    space_id text collate "C" not null references spaces (id) on delete cascade,
    page_id  text collate "C" not null,
    title    text     not null,
    path     text     not null,
    -- The document that the text was made of; with it, a page that did not change is not written again.
    document text     not null,
    words    tsvector not null,
    primary key (space_id, page_id)
);

create index search_pages_words on search_pages using gin (words);

-- +goose Down
drop table search_pages;
drop table change_request_contributors;
drop table files;
drop table documents;
