-- name: ClaimEventKey :one
-- Index: event_keys_pkey. A key that is free or too old becomes the caller's; one whose attempt did not end in its time, with
-- the same body, becomes the caller's with the message that it has. No row: it is somebody else's, or done.
insert into event_keys as k (site_id, key, body_hash, message_id, log_partition, log_offset, leased_until)
values ($1, $2, $3, $4, $5, $6, now() + sqlc.arg(lease)::interval)
on conflict (site_id, key) do update set
    body_hash     = excluded.body_hash,
    message_id    = case when k.created_at <= now() - interval '24 hours' then excluded.message_id else k.message_id end,
    log_partition = case when k.created_at <= now() - interval '24 hours' then excluded.log_partition else k.log_partition end,
    log_offset    = case when k.created_at <= now() - interval '24 hours' then excluded.log_offset else k.log_offset end,
    created_at    = case when k.created_at <= now() - interval '24 hours' then now() else k.created_at end,
    done          = false,
    attempt       = k.attempt + 1,
    leased_until  = excluded.leased_until
where k.created_at <= now() - interval '24 hours'
   or not k.done and k.leased_until <= now() and k.body_hash = excluded.body_hash
returning message_id, log_partition, log_offset, attempt;

-- name: EventKey :one
-- Index: event_keys_pkey.
select body_hash, done from event_keys where site_id = $1 and key = $2;

-- name: FinishEventKey :exec
-- Index: event_keys_pkey. Any node that finds the message in the log may record it.
update event_keys set done = true where site_id = $1 and key = $2 and message_id = $3;

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
    select o.site_id, o.key from event_keys o where o.created_at <= now() - interval '24 hours'
    order by o.created_at limit sqlc.arg(most)::integer for update skip locked);
