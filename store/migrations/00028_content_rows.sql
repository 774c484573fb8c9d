-- Content as rows: an edit writes the pages that it changed, and a page is one look-up, whatever the size of the space.

-- +goose Up

-- The pages of branches. A space's main content is the branch named by the id of the space; a change request's is named by its own id
-- and has only what differs from the revision that it is based on. Revisions of a branch are counted: a row is part of those from
-- `since` until before `until`. Only `until` ever changes, once. Titles and other attributes are in the row and not in a table of
-- versions by their hash: nearly every change of a page changes one of them, and reading a page is one look-up.
--
-- Tables of content, and revisions, have no foreign key to spaces: deleted_spaces says what is to be deleted later, in parts.
create table branch_pages (
    branch    text collate "C" not null,
    page_id   text collate "C" not null,
    since     integer          not null,
    until     integer          not null default 2147483647,
    -- In a branch with a base: the page is deleted, though the base has it.
    deleted   boolean          not null default false,
    parent_id text collate "C" not null default '',
    position  text collate "C" not null default '',
    slug      text collate "C" not null default '',
    page      jsonb            not null default '{}',
    primary key (branch, page_id, until)
);

create index branch_pages_parent on branch_pages (branch, parent_id, slug, until);

-- The pages that each revision changed.
create table revision_changes (
    branch  text collate "C" not null,
    seq     integer          not null,
    page_id text collate "C" not null,
    primary key (branch, seq, page_id)
);

-- The files of branches. Files are added only.
create table branch_files (
    branch       text collate "C" not null,
    file_id      text collate "C" not null,
    since        integer          not null,
    name         text             not null,
    content_type text             not null,
    size         bigint           not null,
    hash         text collate "C" not null,
    primary key (branch, file_id)
);

alter table revisions
    add column branch     text collate "C",
    add column seq        integer not null default 1,
    -- The branch that this one has the differences from, and its revision; null for a branch that has all its pages.
    add column base       text collate "C",
    add column base_seq   integer not null default 0,
    add column page_count integer not null default 0;

-- The pages of a revision: those of its branch, and those of its base that the branch does not have in another state. Postgres
-- inlines it. It has a text body, so that it also returns columns that later migrations add.
create function pages_of(of_space text, of_revision text) returns setof branch_pages language sql stable as $$
    select p.*
    from revisions r join branch_pages p on p.branch = r.branch and p.since <= r.seq and p.until > r.seq
    where r.id = of_revision and r.space_id = of_space and not p.deleted
    union all
    select p.*
    from revisions r join branch_pages p on p.branch = r.base and p.since <= r.base_seq and p.until > r.base_seq
    where r.id = of_revision and r.space_id = of_space and not p.deleted and not exists (
        select from branch_pages own
        where own.branch = r.branch and own.page_id = p.page_id and own.since <= r.seq and own.until > r.seq)
$$;

-- The heads of spaces begin their main content. Every other revision that there is becomes a branch of its own, which has all its
-- pages.
update revisions r set branch = case when s.revision = r.id then s.id else r.id end from spaces s where s.id = r.space_id;
alter table revisions alter column branch set not null;

-- Positions as tree.Spread gives them.
insert into branch_pages (branch, page_id, since, parent_id, position, slug, page)
with recursive nodes as (
    select r.branch, '' as parent_id, e.page, e.n - 1 as n
    from revisions r cross join lateral jsonb_array_elements(r.pages) with ordinality e(page, n)
    union all
    select p.branch, p.page ->> 'id', e.page, e.n - 1
    from nodes p cross join lateral jsonb_array_elements(coalesce(p.page -> 'pages', '[]')) with ordinality e(page, n)
), digits as (
    select '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' as d
)
select branch, page ->> 'id', 1, parent_id,
       case
           when n < 62 then 'a' || substr(d, n::integer + 1, 1)
           when n < 62 + 3844 then 'b' || substr(d, ((n - 62) / 62)::integer + 1, 1) || substr(d, ((n - 62) % 62)::integer + 1, 1)
           else 'c' || substr(d, ((n - 3906) / 3844)::integer + 1, 1) || substr(d, ((n - 3906) / 62 % 62)::integer + 1, 1)
               || substr(d, ((n - 3906) % 62)::integer + 1, 1)
       end,
       coalesce(page ->> 'slug', ''), page - 'id' - 'slug' - 'pages'
from nodes cross join digits;

update revisions r set page_count = (select count(*) from branch_pages p where p.branch = r.branch);

insert into branch_files (branch, file_id, since, name, content_type, size, hash)
select r.branch, f ->> 'id', 1, f ->> 'name', f ->> 'contentType', (f ->> 'size')::bigint, f ->> 'hash'
from revisions r cross join lateral jsonb_array_elements(r.files) f;

alter table revisions drop column pages, drop column files;
alter table revisions drop constraint revisions_space_id_fkey;
create unique index revisions_branch on revisions (branch, seq);

-- Documents and files belong to a space and go with it. The bytes of a document are those of its hash, but for the ones that there
-- are now: jsonb has ordered their members in its own way.
alter table documents rename to organization_documents;
alter table organization_documents rename constraint documents_pkey to organization_documents_pkey;
create table documents (
    space_id   text collate "C" not null,
    hash       text collate "C" not null,
    content    bytea            not null,
    created_at timestamptz      not null default now(),
    primary key (space_id, hash)
);
insert into documents (space_id, hash, content, created_at)
select named.space_id, d.hash, convert_to(d.content::text, 'UTF8'), d.created_at
from (
        select distinct r.space_id, p.page ->> 'document' as hash
        from revisions r join branch_pages p on p.branch = r.branch
        where p.page ? 'document'
    ) named
    join spaces s on s.id = named.space_id
    join organization_documents d on d.organization_id = s.organization_id and d.hash = named.hash;
drop table organization_documents;

alter table files rename to organization_files;
alter table organization_files rename constraint files_pkey to organization_files_pkey;
create table files (
    space_id   text collate "C" not null,
    hash       text collate "C" not null,
    content    bytea            not null,
    created_at timestamptz      not null default now(),
    primary key (space_id, hash)
);
insert into files (space_id, hash, content, created_at)
select named.space_id, f.hash, f.content, f.created_at
from (select distinct r.space_id, b.hash from revisions r join branch_files b on b.branch = r.branch) named
    join spaces s on s.id = named.space_id
    join organization_files f on f.organization_id = s.organization_id and f.hash = named.hash;
drop table organization_files;

-- Spaces that are gone, while any of their content is still there.
create table deleted_spaces (
    id         text collate "C" primary key,
    deleted_at timestamptz not null default now()
);

-- +goose Down
-- There is no way back: the old tables had a tree for each revision.
