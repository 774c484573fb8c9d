-- name: ClaimEventKeys :many
-- Index: event_keys_pkey. A free or too old key becomes the caller's. If an attempt with an equal body did not end in
-- its time, its key becomes the caller's, with the message that the key has. Other keys are claimed or done, and get no
-- row. All nodes have one order of keys, so that they do not deadlock.
--
-- A clock that jumps ahead makes no key too old, and no key is created before the furthest time seen. A lease that ends
-- too late is of a clock that was set back, so it has ended.
-- Sorts: the keys of one statement.
with clocks as materialized (
    select deletion_time() - interval '24 hours' as old, creation_time() as at)
insert into event_keys as k (
    site_id, key, body_hash, message_id, log_partition, log_offset, leased_until, created_at)
select c.site_id, c.key, c.body_hash, c.message_id, c.log_partition, c.log_offset,
       now() + c.lease * interval '1 microsecond', (select at from clocks)
from (select unnest(sqlc.arg(sites)::text[]) as site_id, unnest(sqlc.arg(keys)::text[]) as key,
             unnest(sqlc.arg(body_hashes)::bytea[]) as body_hash, unnest(sqlc.arg(message_ids)::bytea[]) as message_id,
             unnest(sqlc.arg(partitions)::integer[]) as log_partition,
             unnest(sqlc.arg(offsets)::bigint[]) as log_offset, unnest(sqlc.arg(leases)::bigint[]) as lease) c
order by c.site_id collate "C", c.key collate "C"
on conflict (site_id, key) do update set
    body_hash     = excluded.body_hash,
    message_id    = case when k.created_at <= (select old from clocks) then excluded.message_id else k.message_id end,
    log_partition = case when k.created_at <= (select old from clocks)
                        then excluded.log_partition else k.log_partition end,
    log_offset    = case when k.created_at <= (select old from clocks) then excluded.log_offset else k.log_offset end,
    created_at    = case when k.created_at <= (select old from clocks) then excluded.created_at else k.created_at end,
    done          = false,
    attempt       = k.attempt + 1,
    leased_until  = excluded.leased_until
where k.created_at <= (select old from clocks)
   or not k.done and k.body_hash = excluded.body_hash
      and (k.leased_until <= now() or k.leased_until - excluded.leased_until > excluded.leased_until - now())
returning site_id, key, message_id, log_partition, log_offset, attempt;

-- name: EventKeys :many
-- Index: event_keys_pkey. left_micros is the time after which the key is free again. It is at most a day, also if the
-- clock was set back.
select k.site_id, k.key, k.body_hash, k.done,
       (extract(epoch from least(k.created_at - now(), interval '0') + interval '24 hours') * 1000000)::bigint
           as left_micros
from (select unnest(sqlc.arg(sites)::text[]) as site_id, unnest(sqlc.arg(keys)::text[]) as key) c
join event_keys k on k.site_id = c.site_id and k.key = c.key;

-- name: FinishEventKeys :exec
-- Index: event_keys_pkey. Any node that finds the message in the log may record it. The keys are locked in their order,
-- as in ClaimEventKeys.
-- Sorts: the keys of one statement.
with held as (
    select k.site_id, k.key
    from (select unnest(sqlc.arg(sites)::text[]) as site_id, unnest(sqlc.arg(keys)::text[]) as key,
                 unnest(sqlc.arg(message_ids)::bytea[]) as message_id) c
    join event_keys k on k.site_id = c.site_id and k.key = c.key and k.message_id = c.message_id
    order by k.site_id, k.key for update of k)
update event_keys k set done = true from held where k.site_id = held.site_id and k.key = held.key;

-- name: ReleaseEventKey :exec
-- Index: event_keys_pkey.
update event_keys set leased_until = now(), log_offset = greatest(log_offset, sqlc.arg(log_offset))
where site_id = $1 and key = $2 and message_id = $3 and attempt = $4 and not done;

-- name: ForgetEventKey :exec
-- Index: event_keys_pkey.
delete from event_keys where site_id = $1 and key = $2 and message_id = $3 and attempt = $4 and not done;

-- name: DeleteOldEventKeys :execrows
-- Index: event_keys_created. What another node deletes right now is left to it.
delete from event_keys where (site_id, key) in (
    select o.site_id, o.key from event_keys o where o.created_at <= deletion_time() - interval '24 hours'
    order by o.created_at limit sqlc.arg(most)::integer for update skip locked);
