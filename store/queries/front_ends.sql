-- name: AskAboutChanges :many
-- Marks the changes that are old enough, and returns their organizations. Concurrent nodes share the changes. A change
-- that is ahead of the clock was recorded before the clock was set back. Its age is unknown, so it does not wait.
-- Index: front_end_changes_new.
-- Sorts: a batch.
with taken as (
    select n.id from front_end_changes n
    where not n.asked and (n.at < now() - sqlc.arg(settle)::interval or n.at > now() + sqlc.arg(settle)::interval)
    order by n.at limit sqlc.arg(size)
    for update skip locked
), marked as (
    update front_end_changes c set asked = true from taken where c.id = taken.id returning c.organization_id
)
select distinct organization_id from marked order by organization_id;

-- name: FrontEndChanges :many
-- Returns a batch of an organization's changes for front ends, the oldest first.
-- Index: front_end_changes_asked.
select id, tag from front_end_changes where organization_id = $1 and asked order by id limit $2;

-- name: SitesOfSpaces :many
-- The sites that show one of the spaces.
-- Index: site_spaces_once (space_id, site_id).
-- Sorts: the sites of a batch of changes.
select distinct site_id from site_spaces where space_id = any(sqlc.arg(spaces)::text[]) order by site_id;

-- name: ForgetFrontEndChanges :exec
delete from front_end_changes where id = any(sqlc.arg(ids)::bigint[]);

-- name: DeleteOldFrontEndChanges :execrows
-- Index: front_end_changes_counts.
delete from front_end_changes where id = any(array(
    select o.id from front_end_changes o where o.counts_from < deletion_time() - sqlc.arg(kept)::interval
    order by o.counts_from limit sqlc.arg(size)
));
