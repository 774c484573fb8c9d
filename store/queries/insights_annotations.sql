-- name: InsertAnnotation :one
insert into insights_annotations (id, site_id, kind, at, day, text, pages, space_id, path, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
returning *;

-- name: AnnotateSites :exec
-- Annotates one site, or all sites that show a space. A site keeps the newest `kept` annotations of each kind. A new
-- annotation replaces older annotations beyond this number. A site that is being deleted gets no annotation.
with about as (
    select s.id from sites s
    where s.id in (
        select sqlc.narg(site_id)::text
        union all select p.site_id from site_spaces p where p.space_id = sqlc.narg(space_id)::text
    )
    order by s.id for key share of s
), gone as (
    delete from insights_annotations where id in (
        select old.id from about cross join lateral (
            select a.id from insights_annotations a where a.site_id = about.id and a.kind = sqlc.arg(kind)
            order by a.at desc, a.id desc offset sqlc.arg(kept)::bigint
        ) old
    )
)
insert into insights_annotations (
    id, site_id, kind, at, text, pages, space_id, path, change_request_id, created_by
)
select webhook_id(), about.id, sqlc.arg(kind), date_trunc('milliseconds', now()), sqlc.arg(text),
    sqlc.arg(pages)::text[], sqlc.narg(space_id), sqlc.narg(path), sqlc.narg(change_request_id), sqlc.narg(created_by)
from about;

-- name: AnnotationByID :one
select * from insights_annotations where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: LockAnnotation :one
select * from insights_annotations where id = sqlc.arg(id) and site_id = sqlc.arg(site_id) for update;

-- name: UpdateAnnotation :one
update insights_annotations set at = $2, day = $3, text = $4, pages = $5, space_id = $6, path = $7
where id = $1
returning *;

-- name: DeleteAnnotation :exec
delete from insights_annotations where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: ListAnnotations :many
-- Index: insights_annotations_time (site_id, at, id).
-- The newest first. Planned for its values: see planned.
select * from insights_annotations
where site_id = sqlc.arg(site_id)
  and (at, id) < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::text collate "C")
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (sqlc.narg(kinds)::text[] is null or kind = any(sqlc.narg(kinds)))
  and (sqlc.narg(page)::text is null or sqlc.narg(page) = any(pages))
order by at desc, id desc
limit sqlc.arg(page_size);

-- name: CountAnnotations :one
-- No index: every index that starts with the site does as well.
select count(*) from insights_annotations
where site_id = sqlc.arg(site_id)
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (sqlc.narg(kinds)::text[] is null or kind = any(sqlc.narg(kinds)))
  and (sqlc.narg(page)::text is null or sqlc.narg(page) = any(pages));

-- name: AnnotatedDays :many
-- Index: insights_annotations_kind.
-- Sorts: the days of one site's annotations.
select distinct day from insights_annotations where site_id = $1 and kind = 'manual' and day is not null;

-- name: MoveAnnotatedDays :exec
update insights_annotations a set at = d.at
from (select unnest(sqlc.arg(days)::date[]) as day, unnest(sqlc.arg(times)::timestamptz[]) as at) d
where a.site_id = sqlc.arg(site_id) and a.day = d.day and a.at is distinct from d.at;
