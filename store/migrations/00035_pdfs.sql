-- +goose Up
-- PDFs that were asked for. What is in one never changes: its key names the revision, the selection of pages and the renderer.
create table pdfs (
    space_id text collate "C" not null references spaces (id) on delete cascade,
    key text collate "C" not null,
    revision text collate "C" not null,
    -- The pages: all, a page with those below it, or that page alone.
    page text collate "C" not null,
    alone boolean not null,
    -- The job that makes it.
    job_id bigint,
    asked_at timestamptz not null default now(),
    -- What the chunks are of, once it is made.
    content text collate "C",
    size bigint,
    used_at timestamptz not null default now(),
    primary key (space_id, key)
);
create index pdfs_used on pdfs (used_at);
create index pdfs_open on pdfs (space_id, asked_at) where content is null;

-- The bytes of PDFs. Each attempt writes a content of its own; those that no PDF names are leftovers.
create table pdf_chunks (
    content text collate "C" not null,
    number integer not null,
    bytes bytea not null,
    primary key (content, number)
);
-- They are compressed already.
alter table pdf_chunks alter column bytes set storage external;

-- A content is known from its first chunk on, so that what an attempt left behind is found.
create table pdf_contents (
    content text collate "C" primary key,
    begun_at timestamptz not null default now()
);
create index pdf_contents_begun on pdf_contents (begun_at);
create index pdfs_content on pdfs (content);
alter table pdf_chunks add foreign key (content) references pdf_contents (content) on delete cascade;

-- +goose Down
drop table pdf_chunks;
drop table pdf_contents;
drop table pdfs;
