-- name: SearchedPages :many
-- What is there, to tell what of a new head is new.
-- Index: search_pages_pkey.
select page_id, title, path, document from search_pages where space_id = $1;

-- name: DeleteSearchPages :exec
delete from search_pages where space_id = sqlc.arg(space_id) and page_id = any(sqlc.arg(page_ids)::text[]);

-- name: UpsertSearchPages :exec
-- Words are taken as they stand and, so that their forms match each other, by English stems. The space and the organization
-- are in it as words that no text has, so that the index finds what a tenant has without looking at what others have.
insert into search_pages (space_id, page_id, title, path, document, words)
select sqlc.arg(space_id), p.id, p.title, p.path, p.document,
       array_to_tsvector(array['space ' || sqlc.arg(space_id)::text, 'organization ' || sqlc.arg(organization_id)::text])
           || setweight(to_tsvector('simple', p.title) || to_tsvector('english', p.title), 'A')
           || setweight(to_tsvector('simple', p.body) || to_tsvector('english', p.body), 'B')
from (
    select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(titles)::text[]) as title, unnest(sqlc.arg(paths)::text[]) as path,
           unnest(sqlc.arg(documents)::text[]) as document, unnest(sqlc.arg(bodies)::text[]) as body
) p
on conflict (space_id, page_id) do update set
    title = excluded.title, path = excluded.path, document = excluded.document, words = excluded.words;

-- name: KeepSpace :many
-- Until the transaction ends, the space neither goes nor moves to another organization. All else about it may change.
select id from spaces where id = $1 for key share;

-- name: LockIndexedSpace :one
-- Who changes a space's index holds this row, and nothing else of the space. The result is the revision that is indexed.
insert into search_spaces (space_id, revision) values ($1, '')
on conflict (space_id) do update set space_id = excluded.space_id
returning revision;

-- name: SetIndexedSpace :exec
update search_spaces set revision = sqlc.arg(revision) where space_id = sqlc.arg(space_id);

-- name: SearchSpace :many
-- A query without words finds nothing: its space alone would find all pages.
-- No index gives an order by rank: search_pages_words finds the matches, and they are sorted after it.
select page_id, title, path, rank
from (
    select p.page_id, p.title, p.path, ts_rank(p.words, q.query) as rank
    from search_pages p,
         (select websearch_to_tsquery('simple', sqlc.arg(query)) || websearch_to_tsquery('english', sqlc.arg(query)) as query) q
    where p.space_id = sqlc.arg(space_id) and numnode(q.query) > 0
      and p.words @@ (q.query && quote_literal('space ' || sqlc.arg(space_id)::text)::tsquery)
) m
where (-rank, page_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")
order by -rank, page_id
limit sqlc.arg(page_size);

-- name: SearchSpaceTotal :one
-- Index: search_pages_words.
select count(*)
from search_pages p
where p.space_id = sqlc.arg(space_id) and numnode(websearch_to_tsquery('simple', sqlc.arg(query))) > 0
  and p.words @@ ((websearch_to_tsquery('simple', sqlc.arg(query)) || websearch_to_tsquery('english', sqlc.arg(query)))
                  && quote_literal('space ' || sqlc.arg(space_id)::text)::tsquery);

-- name: SearchOrganization :many
-- The spaces with a match that the user may see, by their best one, and their ten best pages each.
-- No index gives an order by rank: search_pages_words finds the matches, and they are sorted after it.
with matches as (
    select s.id as space_id, s.title as space_title, p.page_id, p.title, p.path,
           ts_rank(p.words, websearch_to_tsquery('simple', sqlc.arg(query)) || websearch_to_tsquery('english', sqlc.arg(query))) as rank
    from search_pages p
        join spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) s on s.id = p.space_id
    where numnode(websearch_to_tsquery('simple', sqlc.arg(query))) > 0
      and p.words @@ ((websearch_to_tsquery('simple', sqlc.arg(query)) || websearch_to_tsquery('english', sqlc.arg(query)))
                      && quote_literal('organization ' || sqlc.arg(organization_id)::text)::tsquery)
), found as (
    select space_id, max(rank)::real as best
    from matches
    group by space_id
    having (-max(rank), space_id) > (sqlc.arg(after)::real, sqlc.arg(after_id)::text collate "C")
    order by -max(rank), space_id
    limit sqlc.arg(page_size)
), numbered as (
    select m.*, f.best, row_number() over (partition by m.space_id order by m.rank desc, m.page_id) as place
    from matches m join found f on f.space_id = m.space_id
)
select space_id, space_title, page_id, title, path, best
from numbered
where place <= 10
order by -best, space_id, place;

-- name: SearchOrganizationTotal :one
-- No index counts spaces: search_pages_words finds the matches, and their spaces are made distinct after it.
select count(distinct s.id)
from search_pages p
    join spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) s on s.id = p.space_id
where numnode(websearch_to_tsquery('simple', sqlc.arg(query))) > 0
  and p.words @@ ((websearch_to_tsquery('simple', sqlc.arg(query)) || websearch_to_tsquery('english', sqlc.arg(query)))
                  && quote_literal('organization ' || sqlc.arg(organization_id)::text)::tsquery);
