-- The pages of a revision: see the function pages_of.

-- name: PageOfRevision :one
-- Index: branch_pages_pkey.
select p.page_id, p.parent_id, p.position, p.slug, p.page
from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
where p.page_id = sqlc.arg(page_id)::text;

-- name: PageAndDocument :one
-- Index: branch_pages_pkey.
select p.page_id, p.parent_id, p.position, p.slug, p.page, d.content
from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
    left join documents d on d.space_id = sqlc.arg(space_id) and d.hash = p.page ->> 'document'
where p.page_id = sqlc.arg(page_id)::text;

-- name: PagesOfRevision :many
select p.page_id, p.parent_id, p.position, p.slug, p.page
from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p;

-- name: ChildrenOfPage :many
-- Index: branch_pages_parent.
select p.page_id, p.parent_id, p.position, p.slug, p.page
from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
where p.parent_id = sqlc.arg(parent_id)::text;

-- name: PagesBelow :many
-- Index: branch_pages_parent. The lateral subquery makes Postgres look the children of each page up.
with recursive below as (
    select p.page_id, p.parent_id, p.position, p.slug, p.page
    from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
    where p.parent_id = sqlc.arg(page_id)::text
    union all
    select p.page_id, p.parent_id, p.position, p.slug, p.page
    from below b cross join lateral (
        select c.page_id, c.parent_id, c.position, c.slug, c.page
        from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) c
        where c.parent_id = b.page_id
        offset 0) p
)
select page_id, parent_id, position, slug, page from below;

-- name: SlugsUp :many
-- The slugs from a page up to the root, its own first.
-- Index: branch_pages_pkey.
-- Sorts: 16 rows at most.
with recursive up as (
    select p.parent_id, p.slug, 1 as depth
    from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
    where p.page_id = sqlc.arg(page_id)::text
    union all
    select p.parent_id, p.slug, u.depth + 1
    from up u cross join lateral (
        select a.parent_id, a.slug
        from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) a
        where a.page_id = u.parent_id
        limit 1) p
    where u.depth < 16
)
select slug from up order by depth;

-- name: SlugsUpOfPages :many
-- The slugs from each of the pages up to the root, its own first.
-- Index: branch_pages_pkey.
-- Sorts: 16 rows at most for each page.
with recursive up as (
    select p.page_id, p.parent_id, p.slug, 1 as depth
    from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
    where p.page_id = any(sqlc.arg(ids)::text[])
    union all
    select u.page_id, p.parent_id, p.slug, u.depth + 1
    from up u cross join lateral (
        select a.parent_id, a.slug
        from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) a
        where a.page_id = u.parent_id
        limit 1) p
    where u.depth < 16
)
select page_id, slug from up order by page_id, depth;

-- name: PagesAtPaths :many
-- The pages that these paths lead to from the root.
-- Index: branch_pages_parent.
with recursive down as (
    select p.path, string_to_array(p.path, '/') as slugs, (''::text collate "C")::text as page_id, 0 as depth
    from (select unnest(sqlc.arg(paths)::text[])::text as path) p
    union all
    select d.path, d.slugs, p.page_id, d.depth + 1
    from down d cross join lateral (
        select c.page_id
        from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) c
        where c.parent_id = d.page_id and c.slug = d.slugs[d.depth + 1]
        limit 1) p
    where d.depth < cardinality(d.slugs)
)
select path::text as path, page_id from down where depth = cardinality(slugs) and depth > 0;

-- name: PageByPath :one
-- The page that these slugs lead to from the root.
-- Index: branch_pages_parent.
with recursive down as (
    select (''::text collate "C")::text as page_id, (''::text collate "C")::text as parent_id, (''::text collate "C")::text as position,
           (''::text collate "C")::text as slug, '{}'::jsonb as page, 0 as depth
    union all
    select p.page_id, p.parent_id, p.position, p.slug, p.page, d.depth + 1
    from down d cross join lateral (
        select c.page_id, c.parent_id, c.position, c.slug, c.page
        from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) c
        where c.parent_id = d.page_id and c.slug = (sqlc.arg(slugs)::text[])[d.depth + 1]
        limit 1) p
    where d.depth < cardinality(sqlc.arg(slugs)::text[])
)
select page_id, parent_id, position, slug, page from down where depth = cardinality(sqlc.arg(slugs)::text[]);

-- name: FormerPages :many
-- Returns, for each path, the page that had the path last, if the revision still has the page. The page or a page
-- above it was then renamed or moved. For each place on the way, it reads the newest 1,000 states of the pages there.
-- More edits do not increase this number. Pages have at most 16 levels.
-- Index: branch_pages_parent.
-- Sorts: the pages that were at the paths.
with recursive history as (
    select r.branch, r.seq from revisions r where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision)
    union all
    select r.base, r.base_seq from revisions r where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision) and r.base is not null
), down as (
    select p.path, string_to_array(p.path, '/') as slugs, (''::text collate "C")::text as page_id, 2147483647 as until, 0 as depth
    from (select unnest(sqlc.arg(paths)::text[])::text as path) p
    where cardinality(string_to_array(p.path, '/')) <= 16
    union
    select d.path, d.slugs, p.page_id, least(p.until, d.until), d.depth + 1
    from down d cross join lateral (
        select c.page_id, max(c.until) as until
        from history h cross join lateral (
            select s.page_id, s.until from branch_pages s
            where s.branch = h.branch and s.parent_id = d.page_id and s.slug = d.slugs[d.depth + 1]
              and s.since <= h.seq and not s.deleted
            order by s.until desc
            limit 1000) c
        group by c.page_id
        offset 0) p
    where d.depth < cardinality(d.slugs)
)
select distinct on (d.path) d.path::text as path, d.page_id
from down d cross join lateral (
    select from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p where p.page_id = d.page_id and p.slug <> '' limit 1) there
where d.depth = cardinality(d.slugs)
order by d.path, d.until desc, d.page_id;

-- name: PagesByID :many
-- Index: branch_pages_pkey.
select p.page_id, p.parent_id, p.position, p.slug, p.page
from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p
where p.page_id = any(sqlc.arg(ids)::text[]);

-- name: ChangedInBranch :many
-- The pages that the revisions of a branch after one, up to another, have changed.
-- Index: revision_changes_pkey.
select c.page_id from revision_changes c
where c.branch = sqlc.arg(branch) and c.seq > sqlc.arg(after)::integer and c.seq <= sqlc.arg(seq)::integer;

-- name: PagesOfBranch :many
-- Returns the pages that a change request's revision has changed or deleted, compared with its base.
-- No index: both begin with the branch.
select p.page_id from branch_pages p
where p.branch = sqlc.arg(branch) and p.until > sqlc.arg(seq)::integer and p.since <= sqlc.arg(seq)::integer;

-- name: EndPages :exec
-- Index: branch_pages_pkey.
update branch_pages set until = sqlc.arg(seq)
where branch = sqlc.arg(branch) and page_id = any(sqlc.arg(page_ids)::text[]) and until = 2147483647;

-- name: EndBranch :exec
-- No index: both begin with the branch.
update branch_pages set until = sqlc.arg(seq)
where branch = sqlc.arg(branch) and until = 2147483647;

-- name: InsertPages :exec
with changed as (
    insert into revision_changes (branch, seq, page_id)
    select sqlc.arg(branch), sqlc.arg(seq), unnest(sqlc.arg(changed)::text[])
)
insert into branch_pages (branch, since, page_id, deleted, parent_id, position, slug, page)
select sqlc.arg(branch), sqlc.arg(seq), p.id, p.deleted, p.parent, p.position, p.slug, p.page::jsonb
from (
    select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(deleted)::boolean[]) as deleted,
           unnest(sqlc.arg(parents)::text[]) as parent, unnest(sqlc.arg(positions)::text[]) as position,
           unnest(sqlc.arg(slugs)::text[]) as slug, unnest(sqlc.arg(pages)::text[]) as page
) p;

-- name: FilesOfRevision :many
-- Index: branch_files_pkey, files_pkey.
-- Sorts: two branches' files, by their ids.
select f.file_id, f.name, f.content_type, f.size, f.hash, coalesce(c.width, 0)::integer as width,
    coalesce(c.height, 0)::integer as height
from revisions r
    join branch_files f on f.branch = r.branch and f.since <= r.seq and f.until > r.seq
        or f.branch = r.base and f.since <= r.base_seq and f.until > r.base_seq
    left join files c on c.space_id = r.space_id and c.hash = f.hash
where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision)
order by f.file_id;

-- name: FileOfRevision :one
-- Index: branch_files_pkey.
select f.file_id, f.name, f.content_type, f.size, f.hash
from revisions r
    join spaces s on s.id = r.space_id -- an address may be older than the end of its space
    join branch_files f on f.branch in (r.branch, r.base) and f.file_id = sqlc.arg(file_id)
        and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision)
limit 1;

-- name: NamesOfFiles :many
-- Index: branch_files_pkey.
select f.file_id, f.name
from revisions r
    join branch_files f on f.branch in (r.branch, r.base) and f.file_id = any(sqlc.arg(file_ids)::text[])
        and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision);

-- name: IncludesOfRevision :many
-- The contents of files of a revision, without the large ones.
-- Index: branch_files_pkey.
select f.file_id, c.content
from revisions r
    join branch_files f on f.branch in (r.branch, r.base) and f.file_id = any(sqlc.arg(file_ids)::text[])
        and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
    join files c on c.space_id = r.space_id and c.hash = f.hash
where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision) and f.size <= sqlc.arg(most)::bigint;

-- name: InsertFile :exec
insert into branch_files (branch, since, file_id, name, content_type, size, hash) values ($1, $2, $3, $4, $5, $6, $7);

-- name: MergeFiles :exec
-- The files that a change request added become files of the main content.
insert into branch_files (branch, since, file_id, name, content_type, size, hash)
select sqlc.arg(main)::text, sqlc.arg(since)::integer, f.file_id, f.name, f.content_type, f.size, f.hash
from branch_files f
where f.branch = sqlc.arg(branch)::text and f.since <= sqlc.arg(seq)::integer
on conflict do nothing;

-- name: UnnamedFiles :many
-- Returns the given files that no page of a revision names, and no page that an open change request has changed. Ids
-- are long enough for a search as text.
-- Index: branch_pages_pkey.
select f.id::text from unnest(sqlc.arg(ids)::text[]) as f(id)
where not exists (
    select from pages_of(sqlc.arg(space_id)::text, sqlc.arg(revision)::text) p
        left join documents d on d.space_id = sqlc.arg(space_id)::text and d.hash = p.page ->> 'document'
    where position(f.id in p.page::text) > 0 or position(convert_to(f.id, 'UTF8') in d.content) > 0
) and not exists (
    select from change_requests c join branch_pages p on p.branch = c.id and p.until = 2147483647
        left join documents d on d.space_id = sqlc.arg(space_id)::text and d.hash = p.page ->> 'document'
    where c.space_id = sqlc.arg(space_id)::text and c.status in ('draft', 'open')
      and (position(f.id in p.page::text) > 0 or position(convert_to(f.id, 'UTF8') in d.content) > 0)
);

-- name: EndFiles :exec
-- From a revision on, the branch no longer has them.
update branch_files set until = sqlc.arg(seq) where branch = sqlc.arg(branch) and file_id = any(sqlc.arg(ids)::text[]) and until = 2147483647;

-- name: BranchHasFiles :one
-- Index: branch_files_pkey.
select exists (select from branch_files f where f.branch = $1);

-- name: DeletedSpace :one
-- Index: deleted_spaces_pkey.
select id from deleted_spaces order by id limit 1;

-- name: SomeBranches :many
-- Index: revisions_space (space_id, id).
select r.branch from revisions r where r.space_id = sqlc.arg(space_id) order by r.id limit sqlc.arg(size);

-- The queries below delete a part of the content of a deleted space.

-- name: PurgeRevisions :execrows
delete from revisions where space_id = sqlc.arg(space_id) and branch = any(sqlc.arg(branches)::text[]);

-- name: PurgePages :execrows
delete from branch_pages where (branch, page_id, until) in (
    select p.branch, p.page_id, p.until from branch_pages p where p.branch = any(sqlc.arg(branches)::text[]) limit sqlc.arg(size));

-- name: PurgeChanges :execrows
delete from revision_changes where (branch, seq, page_id) in (
    select c.branch, c.seq, c.page_id from revision_changes c where c.branch = any(sqlc.arg(branches)::text[]) limit sqlc.arg(size));

-- name: PurgeBranchFiles :execrows
delete from branch_files where (branch, file_id) in (
    select f.branch, f.file_id from branch_files f where f.branch = any(sqlc.arg(branches)::text[]) limit sqlc.arg(size));

-- name: PurgeDocuments :execrows
delete from documents where (space_id, hash) in (
    select d.space_id, d.hash from documents d where d.space_id = sqlc.arg(space_id) limit sqlc.arg(size));

-- name: PurgeFiles :execrows
delete from files where (space_id, hash) in (
    select f.space_id, f.hash from files f where f.space_id = sqlc.arg(space_id) limit sqlc.arg(size));

-- name: ForgetDeletedSpace :exec
delete from deleted_spaces where id = $1;
