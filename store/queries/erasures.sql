-- name: AskErasure :one
-- Index: erasures_pkey. An erasure that already covers the moment stays unchanged. An earlier erasure starts again, and
-- keeps its place if it is not done. The log may have the events until log_until. So it counts from the furthest time
-- known, also if the requesting node's clock is behind.
insert into erasures as e (site_id, visitor, event_key, asked_at, erased_until, log_until)
select $1, $2, sqlc.narg(event_key), r.until, r.until, greatest(r.until, creation_time()) + sqlc.narg(keep)::interval
from (select erasure_reach(sqlc.arg(until)::timestamptz) as until) r
on conflict (site_id, visitor) do update set
    asked_at     = case when e.erased_until >= excluded.erased_until or e.done_at is null then e.asked_at
                        else excluded.asked_at end,
    log_until    = case when e.log_until is null or excluded.log_until is null then null else greatest(e.log_until, excluded.log_until) end,
    version      = case when e.erased_until >= excluded.erased_until then e.version end,
    ahead_from   = case when e.erased_until >= excluded.erased_until then e.ahead_from end,
    ahead_until  = case when e.erased_until >= excluded.erased_until then e.ahead_until end,
    mutated_at   = case when e.erased_until >= excluded.erased_until then e.mutated_at end,
    done_at      = case when e.erased_until >= excluded.erased_until then e.done_at end,
    erased_until = greatest(e.erased_until, excluded.erased_until)
returning *;

-- name: Erasure :one
-- Index: erasures_pkey.
select * from erasures where site_id = $1 and visitor = $2;

-- name: SiteErasures :one
-- Index: erasures_pending_site. None if AskErasure would not add one.
select count(*) from erasures e where e.done_at is null and e.site_id = $1
and not exists (
    select from erasures o where o.site_id = $1 and o.visitor = $2
    and (o.done_at is null or o.erased_until >= erasure_reach(sqlc.arg(until)::timestamptz))
);

-- name: NextTombstoneVersion :one
-- A version contains the time. So after a restored backup, no version is given a second time.
update tombstone_version set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint) returning version;

-- name: RaiseTombstoneVersion :exec
update tombstone_version set version = greatest(version, sqlc.arg(version)::bigint);

-- name: BeginErasures :many
-- Index: erasures_pending.
with batch as (
    select site_id, visitor from erasures where done_at is null and version is null order by asked_at limit sqlc.arg(most)::integer for update
)
update erasures e set version = sqlc.arg(version) from batch b where e.site_id = b.site_id and e.visitor = b.visitor
returning e.site_id, e.visitor, coalesce(e.event_key, '')::text as event_key, e.erased_until, e.ahead_from,
    e.ahead_until;

-- name: AddTombstones :exec
-- Index: erasures_pending.
insert into tombstones (version, site_id, visitor, event_key, before, ahead_from, ahead_until)
select e.version, e.site_id, e.visitor, e.event_key, e.erased_until, e.ahead_from, e.ahead_until
from erasures e where e.version = $1 and e.done_at is null;

-- name: BegunErasures :many
-- Index: erasures_pending. They have tombstones, and their rows may still be there.
-- Sorts: those that are under way.
select version::bigint as version, erased_until, site_id, visitor, coalesce(event_key, '')::text as event_key,
    ahead_from, ahead_until
from erasures
where done_at is null and version is not null and mutated_at is null order by version;

-- name: AheadOfClock :one
-- Events that were received after this time were received by a clock that is ahead.
select (case when known_time() < now() then 'epoch' else now() + interval '1 minute' end)::timestamptz;

-- name: ReachAhead :exec
-- Index: erasures_pkey. The erasure begins again, also with the events of a second time span.
update erasures set version = null, ahead_from = sqlc.arg(ahead_from)::timestamptz,
    ahead_until = sqlc.arg(ahead_until)::timestamptz,
    log_until = case when log_until is not null then
        greatest(log_until, creation_time()) + greatest(sqlc.arg(ahead_until)::timestamptz - erased_until, interval '0')
    end
where site_id = $1 and visitor = $2 and version = $3 and mutated_at is null;

-- name: RetryErasures :exec
-- Index: erasures_pending.
update erasures set version = null where version = $1 and mutated_at is null and done_at is null;

-- name: MarkMutated :exec
-- Index: erasures_pending.
update erasures set mutated_at = sqlc.arg(mutated_at)::timestamptz where version = $1 and mutated_at is null and done_at is null;

-- name: FinishErasures :execrows
-- Index: erasures_pending. A restored backup is compared with done_at, so done_at must not look old either.
update erasures set done_at = creation_time() where done_at is null and mutated_at <= sqlc.arg(mutated_at)::timestamptz;

-- name: PendingErasures :one
-- Index: erasures_pending. first_mutated is the time at which the first erasure left the active parts, because later
-- erasures must not delay it.
select count(*), coalesce(extract(epoch from now() - min(asked_at)), 0)::float8 as oldest,
    count(mutated_at) as mutated, coalesce(min(mutated_at), now())::timestamptz as first_mutated
from erasures where done_at is null;

-- name: ForgetErasures :execrows
-- Index: erasures_done. Deletes erasures whose events have left the log and the dead letters.
with gone as (
    delete from erasures where done_at is not null and log_until < deletion_time()
    returning site_id, visitor, greatest(erased_until, ahead_until) as erased_until, done_at
), noted as (
    insert into forgotten_erasures as f (site_id, erased_until, done_at)
    select site_id, max(erased_until), max(done_at) from gone group by site_id
    on conflict (site_id) do update set
        erased_until = greatest(f.erased_until, excluded.erased_until), done_at = greatest(f.done_at, excluded.done_at)
)
delete from tombstones t using gone g where t.site_id = g.site_id and t.visitor = g.visitor;

-- name: ForgottenErasures :many
-- A row for each site that had an erasure.
select site_id, erased_until, done_at from forgotten_erasures;

-- name: TombstoneVersion :one
select version from tombstone_version;

-- name: TombstonesAfter :many
-- Index: tombstones_pkey.
select version, site_id, visitor, coalesce(event_key, '')::text as event_key, before, ahead_from, ahead_until
from tombstones where version > sqlc.arg(after) and version <= sqlc.arg(upto) order by version;

-- name: Retention :one
-- Index: retentions_pkey.
select days from retentions where site_id = $1;

-- name: SetRetention :exec
insert into retentions (site_id, days) values ($1, $2)
on conflict (site_id) do update set days = excluded.days, carried_out = case when retentions.days is distinct from excluded.days then null else retentions.carried_out end;

-- name: RetentionIsDue :one
-- Nothing is due while the clock is in doubt. A day that is yet to come, of a clock that was ahead, does not count.
select (deletion_time() > 'epoch'
    and exists (
        select from retentions where days is not null and carried_out is distinct from date_trunc('day', now(), 'UTC')
    ))::boolean;

-- name: BeginRetention :many
-- Returns sites with events that may be too old by now, each site once a day. Days are in UTC, also in a session
-- with another zone.
with due as (
    select site_id, days,
        (date_trunc('day', deletion_time() at time zone 'UTC') - make_interval(days => days)) at time zone 'UTC'
            as before
    from retentions where days is not null and carried_out is distinct from date_trunc('day', deletion_time(), 'UTC')
    order by site_id limit sqlc.arg(most)::integer
), covered as (
    delete from expiries e using due d where e.site_id = d.site_id and e.before < d.before
), begun as (
    -- Already now: a process that is killed after the deletion cannot say so any more.
    insert into expiries (site_id, before, carried_out) select site_id, before, now() from due
    on conflict (site_id, before) do update set carried_out = excluded.carried_out
)
select site_id, before::timestamptz as before, days::integer as days from due;

-- name: CarriedOut :exec
-- If a site's days were changed since the beginning, the new days are still due. A deletion that began before midnight
-- counts for the previous day.
with c as (
    select unnest(sqlc.arg(sites)::text[]) as site_id, unnest(sqlc.arg(before)::timestamptz[]) as before, unnest(sqlc.arg(days)::integer[]) as days
), expired as (
    update expiries e set carried_out = now() from c where e.site_id = c.site_id and e.before = c.before
)
update retentions r set carried_out = (c.before at time zone 'UTC' + make_interval(days => c.days)) at time zone 'UTC'
from c where r.site_id = c.site_id and r.days = c.days;

-- name: Expiries :many
select site_id, before, carried_out from expiries;
