-- name: KeepSpace :many
-- Until the transaction ends, the space is not deleted or moved to another organization. Other data of the space may
-- change.
select id from spaces where id = $1 for key share;

-- name: LockIndexedSpace :many
-- A change of a space's index locks only this row of the space.
select * from search_spaces where space_id = $1 for update;

-- name: InsertIndexedSpace :exec
insert into search_spaces (space_id, dictionary) values ($1, '') on conflict do nothing;

-- name: SpacesToIndexAgain :many
-- The spaces whose index must be written again as a whole.
-- No index: Migrate asks once.
select s.id, s.organization_id
from spaces s join search_spaces i on i.space_id = s.id
where i.revision = ''
order by s.id;

-- name: SetIndexedSpace :exec
update search_spaces set
    revision = sqlc.arg(revision), dictionary = sqlc.arg(dictionary), target = sqlc.arg(target), reached = sqlc.arg(reached)
where space_id = sqlc.arg(space_id);

-- name: PagesToIndex :many
-- The pages that revisions of the main content have changed. The pages below a page that was moved, hidden or shown are
-- included.
-- Index: revision_changes_pkey.
-- Sorts: the pages that changed.
with recursive changed as (
    select distinct c.page_id from revision_changes c
    where c.branch = sqlc.arg(space_id)::text and c.seq > sqlc.arg(after)::integer and c.seq <= sqlc.arg(seq)::integer
), below as (
    select n.page_id
    from changed c
        join branch_pages n on n.branch = sqlc.arg(space_id)::text and n.page_id = c.page_id
            and n.since <= sqlc.arg(seq)::integer and n.until > sqlc.arg(seq)::integer
        join branch_pages o on o.branch = sqlc.arg(space_id)::text and o.page_id = c.page_id
            and o.since <= sqlc.arg(after)::integer and o.until > sqlc.arg(after)::integer
    where (o.parent_id, o.slug, o.page -> 'hidden') is distinct from (n.parent_id, n.slug, n.page -> 'hidden')
    union
    select p.page_id
    from below b cross join lateral (
        select c.page_id from branch_pages c
        where c.branch = sqlc.arg(space_id)::text and c.parent_id = b.page_id
          and c.since <= sqlc.arg(seq)::integer and c.until > sqlc.arg(seq)::integer
        offset 0) p
)
select page_id from changed union select page_id from below;

-- name: AllPagesToIndex :many
-- The pages of the main content, and the pages in the index.
-- No index: it lists them all.
select p.page_id from branch_pages p
where p.branch = sqlc.arg(space_id)::text and p.since <= sqlc.arg(seq)::integer and p.until > sqlc.arg(seq)::integer
union
select s.page_id from search_pages s where s.space_id = sqlc.arg(space_id)::text;

-- name: PlacedPages :many
-- Pages of the main content with their paths. A page is hidden if it or one above it is.
-- Index: branch_pages_pkey.
with recursive up as (
    select p.page_id, p.parent_id, p.slug as path, coalesce((p.page ->> 'hidden')::boolean, false) as hidden,
           coalesce((p.page ->> 'noIndex')::boolean, false) as no_index, coalesce(p.page ->> 'type', '') as kind,
           coalesce(p.page ->> 'title', '') as title, coalesce(p.page ->> 'description', '') as description,
           coalesce(p.page ->> 'document', '') as document, 1 as depth
    from branch_pages p
    where p.branch = sqlc.arg(space_id)::text and p.page_id = any(sqlc.arg(ids)::text[])
      and p.since <= sqlc.arg(seq)::integer and p.until > sqlc.arg(seq)::integer
    union all
    select u.page_id, a.parent_id, a.slug || '/' || u.path, u.hidden or coalesce((a.page ->> 'hidden')::boolean, false),
           u.no_index, u.kind, u.title, u.description, u.document, u.depth + 1
    from up u cross join lateral (
        select p.parent_id, p.slug, p.page from branch_pages p
        where p.branch = sqlc.arg(space_id)::text and p.page_id = u.parent_id
          and p.since <= sqlc.arg(seq)::integer and p.until > sqlc.arg(seq)::integer
        limit 1) a
    where u.depth < 16
)
select page_id::text as page_id, title::text as title, path::text as path, description::text as description, document::text as document
from up
where parent_id = '' and not hidden and not no_index and kind <> 'link';

-- name: IndexedPages :many
-- Index: search_pages_pkey.
select page_id, title, path, description, document from search_pages
where space_id = sqlc.arg(space_id) and page_id = any(sqlc.arg(page_ids)::text[]);

-- name: LexemesOfPages :many
-- A page has several rows if it has parts.
-- Index: search_pages_pkey, search_parts_pkey.
select page_id, tsvector_to_array(words)::text[] as lexemes from search_pages
where space_id = sqlc.arg(space_id)::text and page_id = any(sqlc.arg(page_ids)::text[])
union all
select page_id, tsvector_to_array(words)::text[] from search_parts
where space_id = sqlc.arg(space_id)::text and page_id = any(sqlc.arg(page_ids)::text[]);

-- name: DocumentSizes :many
-- Index: documents_pkey.
select hash, octet_length(content)::bigint as size from documents
where space_id = sqlc.arg(space_id) and hash = any(sqlc.arg(hashes)::text[]);

-- name: Stems :many
-- Returns the stems of words by the dictionary. known is false for unknown words. The stem of a stop word, such as
-- "the", is empty.
select w.word::text as word, d.name::text as dictionary, (l.stems is not null)::boolean as known, coalesce(l.stems[1], '')::text as stem
from unnest(sqlc.arg(words)::text[]) w(word), unnest(sqlc.arg(dictionaries)::text[]) d(name),
     lateral (select ts_lexize(('pg_catalog.' || d.name)::regdictionary, w.word) as stems) l;

-- name: DeleteSearchPages :exec
delete from search_pages where space_id = sqlc.arg(space_id) and page_id = any(sqlc.arg(page_ids)::text[]);

-- name: UpsertSearchPages :exec
insert into search_pages (space_id, page_id, title, path, description, document, top, words)
select sqlc.arg(space_id), p.id, p.title, p.path, p.description, p.document, p.top::tsvector, p.words::tsvector
from (
    select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(titles)::text[]) as title, unnest(sqlc.arg(paths)::text[]) as path,
           unnest(sqlc.arg(descriptions)::text[]) as description, unnest(sqlc.arg(documents)::text[]) as document, unnest(sqlc.arg(tops)::text[]) as top,
           unnest(sqlc.arg(words)::text[]) as words
) p
on conflict (space_id, page_id) do update set
    title = excluded.title, path = excluded.path, description = excluded.description, document = excluded.document,
    top = excluded.top, words = excluded.words;

-- name: DeleteSearchParts :exec
delete from search_parts where space_id = sqlc.arg(space_id) and page_id = any(sqlc.arg(page_ids)::text[]);

-- name: InsertSearchPart :exec
-- A statement has one part: each is large.
insert into search_parts (space_id, page_id, part, words)
values (sqlc.arg(space_id), sqlc.arg(page_id), sqlc.arg(part), (sqlc.arg(words)::text)::tsvector);

-- name: PlaceSearchPages :exec
-- Pages that are at another path and otherwise the same.
update search_pages s set path = p.path
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(paths)::text[]) as path) p
where s.space_id = sqlc.arg(space_id) and s.page_id = p.id;

-- name: AddSearchWords :exec
-- The keys of a word are a text with line breaks, because arrays of arrays must be rectangular.
insert into search_words (number, word, pages, near)
select sqlc.arg(number)::bigint, w.word, w.pages, string_to_array(w.keys, E'\n')
from (
    select unnest(sqlc.arg(words)::text[]) as word, unnest(sqlc.arg(pages)::integer[]) as pages, unnest(sqlc.arg(keys)::text[]) as keys
) w
on conflict (number, word) do update set pages = search_words.pages + excluded.pages;

-- name: DeleteSearchWords :exec
delete from search_words where number = sqlc.arg(number)::bigint and word = any(sqlc.arg(words)::text[]) and pages <= 0;

-- name: SearchedSpace :many
-- Index: search_spaces_pkey.
select s.id, s.title, i.number, i.dictionary
from spaces s join search_spaces i on i.space_id = s.id
where s.id = sqlc.arg(space_id);

-- name: SearchedSpacesOfOrganization :many
-- The spaces that the user may see.
-- No index: an organization has few spaces.
select s.id, s.title, i.number, i.dictionary
from spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) s join search_spaces i on i.space_id = s.id;

-- name: SearchedSpacesOfSite :many
-- The spaces of a site that the user may see. A reader of the site, who is no user, sees the site spaces that are shown.
-- No index: a site has few spaces.
select s.id, s.title, i.number, i.dictionary
from spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) s join search_spaces i on i.space_id = s.id
where s.id in (
    select l.space_id
    from site_spaces l left join site_spaces c on c.site_id = l.site_id and c.id = sqlc.narg(current)::text
    where l.site_id = sqlc.arg(site_id)
      and (sqlc.narg(shown)::text[] is null or l.id = any(sqlc.narg(shown)::text[]))
      and l.id is distinct from sqlc.narg(without)::text
      and case
          when sqlc.narg(site_spaces)::text[] is not null then l.id = any(sqlc.narg(site_spaces)::text[])
          when l.id = c.id then true
          when sqlc.arg(defaults)::boolean then l.is_default and (c.id is null or l.section_id is distinct from c.section_id)
          else not l.hidden
      end);

-- name: SpacesWithConditions :many
-- Spaces whose current content has pages that only some visitors see.
-- Index: branch_pages_conditions.
select s.id, s.revision from spaces s
where s.id = any(sqlc.arg(ids)::text[])
  and exists (select from branch_pages p where p.branch = s.id and p.page -> 'condition' is not null and p.until = 2147483647);

-- name: UnknownWords :many
-- Words that no page has, and beginnings that begin no word.
-- Index: search_words_pkey.
select w.word::text as word
from (select unnest(sqlc.arg(words)::text[]) as word, unnest(sqlc.arg(ends)::text[]) as ends) w
where not exists (
    select from unnest(sqlc.arg(numbers)::bigint[]) n(number) cross join lateral (
        select from search_words s where s.number = n.number and s.word >= w.word collate "C" and s.word <= w.ends collate "C" limit 1) k);

-- name: NearWords :many
-- Index: search_words_near.
-- Sorts: the few words with a common key.
select word, sum(pages)::bigint as pages from search_words where near && sqlc.arg(keys)::text[] group by word
order by sum(pages) desc, word limit 1000;

-- name: PartsWith :many
-- The long pages that have words.
-- Index: search_parts_words.
select distinct p.space_id::text as space_id, p.page_id::text as page_id
from unnest(sqlc.arg(queries)::text[]) q(query) cross join lateral (
    select s.space_id, s.page_id from search_parts s where s.words @@ q.query::tsquery) p;

-- name: PagesFoundUnseen :many
-- Pages that a search may find only by words in text that is for some visitors, the smallest first. A page with such
-- text has a mark, and its other words a second time. A long page has them in parts. Each of the terms is in one part.
-- Index: search_pages_words, search_parts_words, search_parts_pkey, documents_pkey.
-- Sorts: the found pages, of which all are returned.
with terms as materialized (
    select unnest(sqlc.arg(term_spaces)::text[]) as space_id, unnest(sqlc.arg(wholes)::text[])::tsquery as whole,
           unnest(sqlc.arg(terms)::text[])::tsquery as shown
)
select s.space_id::text as space_id, p.page_id, p.title, p.description, p.document,
       coalesce((select octet_length(d.content) from documents d
                 where d.space_id = s.space_id and d.hash = p.document), 0)::integer as size
from (
    select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(queries)::text[])::tsquery as query
) s cross join lateral (
    select m.page_id from search_pages m where m.words @@ s.query
    union
    select m.page_id
    from terms t cross join lateral (select distinct l.page_id from search_parts l where l.words @@ t.whole) m
    where t.space_id = s.space_id
    group by m.page_id having count(*) = (select count(*) from terms c where c.space_id = s.space_id)) f
    join search_pages p on p.space_id = s.space_id and p.page_id = f.page_id
where exists (
    select from terms t
    where t.space_id = s.space_id and not exists (
        select from search_parts l
        where l.space_id = s.space_id and l.page_id = p.page_id and l.words @@ t.shown))
order by size, s.space_id, p.page_id;

-- name: PagesMatching :many
-- Pages whose texts have all terms and no excluded words. The words are not from the index. A long text has parts.
with texts as materialized (
    select unnest(sqlc.arg(page_ids)::text[]) as page_id, unnest(sqlc.arg(words)::text[])::tsvector as words
)
select distinct f.page_id::text as page_id from texts f
where not exists (
    select from (
        select unnest(sqlc.arg(term_pages)::text[]) as page_id, unnest(sqlc.arg(terms)::text[])::tsquery as term) t
    where t.page_id = f.page_id
      and not exists (select from texts x where x.page_id = f.page_id and x.words @@ t.term)
) and not exists (
    select from (
        select unnest(sqlc.arg(excluded_pages)::text[]) as page_id,
               unnest(sqlc.arg(excluded)::text[])::tsquery as words) e
        join texts x on x.page_id = e.page_id and x.words @@ e.words
    where e.page_id = f.page_id);

-- The words of a space begin with its number, so all found pages are in the space. A condition on space_id is not
-- needed. With this condition, Postgres would also read the index of all of the space's pages.

-- name: SearchSpace :many
-- Returns the pages of a space, the best first. Every row has the total number of pages. At most 500 pages with all
-- words at their top, and 100 other pages, get a rank. Further pages have rank 0. Pages with the words at their top
-- come first. The others are only looked for if the list gets there. Which 500 and 100 does not matter, so they are not
-- sorted: Postgres stops there. Pages that are hidden from the visitor count as missing. A long page is indexed in
-- parts. Each of the terms is in one part.
-- Index: search_pages_words.
-- Sorts: by rank, of which no index knows.
with far as materialized (
    select p.page_id,
           least(1, 0.02 + ts_rank('{0.02,0.1,0.3,1}', p.top, (sqlc.arg(exact)::text)::tsquery)
            + 0.02 / (1 + char_length(p.title)))::real as rank
    from (
        select m.page_id
        from unnest(sqlc.arg(terms)::text[]) t(term) cross join lateral (
            select distinct s.page_id from search_parts s where s.words @@ t.term::tsquery) m
        group by m.page_id having count(*) = cardinality(sqlc.arg(terms)::text[])
    ) w join search_pages p on p.space_id = sqlc.arg(space_id)::text and p.page_id = w.page_id
    where not p.words @@ (sqlc.arg(query)::text)::tsquery and p.page_id <> all(sqlc.arg(hidden)::text[])
), top as materialized (
    select p.page_id,
           (1 + ts_rank('{0.02,0.1,0.3,1}', p.top, (sqlc.arg(query)::text)::tsquery)
            + ts_rank('{0.02,0.1,0.3,1}', p.top, (sqlc.arg(exact)::text)::tsquery)
            + case when lower(p.title) = sqlc.arg(title)::text then 1 else 0 end + 0.02 / (1 + char_length(p.title)))::real as rank
    from search_pages p
    -- An excluded word may be below the top.
    where p.top @@ (sqlc.arg(query)::text)::tsquery and p.words @@ (sqlc.arg(query)::text)::tsquery
      and p.page_id <> all(sqlc.arg(hidden)::text[])
    limit 500
), others as materialized (
    -- Postgres looks the first ones up in a hash table, however many it expects. It would not, were this a join.
    select p.page_id from search_pages p
    where (select count(*) from top t where (-t.rank, t.page_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")) < sqlc.arg(page_size)
      and p.words @@ (sqlc.arg(query)::text)::tsquery and p.page_id not in (select t.page_id from top t)
      and p.page_id <> all(sqlc.arg(hidden)::text[])
    limit 100
), ranked as materialized (
    select t.page_id, t.rank from top t
    union all
    select p.page_id,
           least(1, ts_rank('{0.02,0.1,0.3,1}', p.words, (sqlc.arg(query)::text)::tsquery)
            + ts_rank('{0.02,0.1,0.3,1}', p.top, (sqlc.arg(exact)::text)::tsquery) + 0.02 / (1 + char_length(p.title)))::real
    from others o join search_pages p on p.space_id = sqlc.arg(space_id)::text and p.page_id = o.page_id
    union all
    select f.page_id, f.rank from far f
), best as materialized (
    select r.page_id, r.rank from ranked r
    where (-r.rank, r.page_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")
    order by -r.rank, r.page_id
    limit sqlc.arg(page_size)
), listed as (
    select b.page_id, b.rank from best b
    union all
    (select p.page_id, 0::real from search_pages p
     where (select count(*) from best) < sqlc.arg(page_size) and p.words @@ (sqlc.arg(query)::text)::tsquery
       and (0::real, p.page_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")
       and p.page_id not in (select r.page_id from ranked r) and p.page_id <> all(sqlc.arg(hidden)::text[])
     order by p.page_id
     limit sqlc.arg(page_size))
)
select ((select count(*) from search_pages m
         where m.words @@ (sqlc.arg(query)::text)::tsquery and m.page_id <> all(sqlc.arg(hidden)::text[]))
        + (select count(*) from far))::bigint as total,
       p.page_id, p.title, p.path, p.description, p.document, l.rank::real as rank
from listed l join search_pages p on p.space_id = sqlc.arg(space_id)::text and p.page_id = l.page_id
order by -l.rank, p.page_id
limit sqlc.arg(page_size);

-- name: SearchSpaces :many
-- Returns the spaces with a match, in the order of their best pages, and the ten best pages of each. Every row has
-- the number of spaces. In each space, at most 100 pages with all words at their top get a rank. If they are fewer than
-- ten, 50 other pages get a rank too. The number of a page is its place among the shown pages of all spaces. Pages that
-- are hidden from the visitor, each named with its space, count as missing. A long page is indexed in parts. A term has
-- the number of terms of its space.
-- Index: search_pages_words.
-- Sorts: by rank, of which no index knows.
with scopes as (
    select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(queries)::text[])::tsquery as query,
           unnest(sqlc.arg(exacts)::text[])::tsquery as exact
), top as materialized (
    select s.space_id, t.page_id, t.title, t.path, t.description, t.document, t.rank
    from scopes s cross join lateral (
        select p.page_id, p.title, p.path, p.description, p.document,
               (1 + ts_rank('{0.02,0.1,0.3,1}', p.top, s.query) + ts_rank('{0.02,0.1,0.3,1}', p.top, s.exact)
                + case when lower(p.title) = sqlc.arg(title)::text then 1 else 0 end + 0.02 / (1 + char_length(p.title)))::real as rank
        from search_pages p
        where p.top @@ s.query and p.words @@ s.query
          and p.space_id || '/' || p.page_id <> all(sqlc.arg(hidden)::text[])
        limit 100) t
), others as materialized (
    select s.space_id, p.page_id, p.title, p.path, p.description, p.document,
           least(1, ts_rank('{0.02,0.1,0.3,1}', p.words, s.query) + ts_rank('{0.02,0.1,0.3,1}', p.top, s.exact)
            + 0.02 / (1 + char_length(p.title)))::real as rank
    from scopes s cross join lateral (
        select o.page_id from search_pages o
        where (select count(*) from top t where t.space_id = s.space_id) < 10 and o.words @@ s.query and not o.top @@ s.query
          and o.space_id || '/' || o.page_id <> all(sqlc.arg(hidden)::text[])
        limit 50) m
        join search_pages p on p.space_id = s.space_id and p.page_id = m.page_id
), far as materialized (
    select s.space_id, p.page_id, p.title, p.path, p.description, p.document,
           least(1, 0.02 + ts_rank('{0.02,0.1,0.3,1}', p.top, s.exact)
            + 0.02 / (1 + char_length(p.title)))::real as rank
    from (
        select t.space_id, m.page_id
        from (
            select unnest(sqlc.arg(term_spaces)::text[]) as space_id, unnest(sqlc.arg(terms)::text[]) as term,
                   unnest(sqlc.arg(term_counts)::integer[]) as terms
        ) t cross join lateral (
            select distinct s.page_id from search_parts s where s.words @@ t.term::tsquery) m
        group by t.space_id, m.page_id having count(*) = max(t.terms)
    ) w
        join scopes s on s.space_id = w.space_id
        join search_pages p on p.space_id = w.space_id and p.page_id = w.page_id
    where not p.words @@ s.query and p.space_id || '/' || p.page_id <> all(sqlc.arg(hidden)::text[])
), ranked as materialized (
    select f.space_id, f.page_id, f.title, f.path, f.description, f.document, f.rank,
           row_number() over (partition by f.space_id order by f.rank desc, f.page_id) as place,
           max(f.rank) over (partition by f.space_id) as best
    from (select * from top union all select * from others union all select * from far) f
), shown as materialized (
    select r.space_id, r.page_id, r.title, r.path, r.description, r.document, r.rank, r.place, r.best,
           row_number() over (order by r.rank desc, r.space_id, r.page_id) as number
    from ranked r where r.place <= 10
), found as (
    select r.space_id, r.best from shown r
    where r.place = 1 and (-r.best, r.space_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")
    order by -r.best, r.space_id
    limit sqlc.arg(page_size)
)
select (select count(*) from shown where place = 1)::bigint as total, r.space_id::text as space_id, r.page_id, r.title, r.path,
       r.description, r.document, r.rank::real as rank, r.number::bigint as number, r.best::real as best
from found f join shown r on r.space_id = f.space_id
order by -r.best, r.space_id, r.place;

-- name: FoundDocuments :many
-- Documents of pages of several spaces, without the large ones.
-- Index: documents_pkey.
select f.space_id::text as space_id, d.hash, d.content
from (select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(hashes)::text[]) as hash) f cross join lateral (
    select w.hash, w.content from documents w
    where w.space_id = f.space_id and w.hash = f.hash and octet_length(w.content) <= sqlc.arg(most)::integer
    limit 1) d;

-- name: TitlesAbove :many
-- The titles of the pages above pages of the main content of spaces, the nearest first.
-- Index: branch_pages_pkey.
-- Sorts: 16 rows at most for each page.
with recursive up as (
    select p.branch, p.page_id, p.parent_id, ''::text as title, 0 as depth
    from (select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(pages)::text[]) as page_id) f cross join lateral (
        select b.branch, b.page_id, b.parent_id from branch_pages b
        where b.branch = f.space_id and b.page_id = f.page_id and b.until = 2147483647
        limit 1) p
    union all
    select u.branch, u.page_id, p.parent_id, p.title, u.depth + 1
    from up u cross join lateral (
        select b.parent_id, coalesce(b.page ->> 'title', '') as title from branch_pages b
        where b.branch = u.branch and b.page_id = u.parent_id and b.until = 2147483647
        limit 1) p
    where u.depth < 16
)
select branch::text as space_id, page_id::text as page_id, title::text as title from up where depth > 0 order by branch, page_id, depth;

-- name: PurgeSearchPages :execrows
delete from search_pages where (space_id, page_id) in (
    select p.space_id, p.page_id from search_pages p where p.space_id = sqlc.arg(space_id) limit sqlc.arg(size));

-- name: PurgeSearchWords :execrows
delete from search_words where (number, word) in (
    select w.number, w.word from search_spaces s join search_words w on w.number = s.number
    where s.space_id = sqlc.arg(space_id) limit sqlc.arg(size));

-- name: PurgeIndexedSpace :exec
delete from search_spaces where space_id = $1;
