-- name: KeepDoorSalt :exec
-- Index: door_salts_pkey. Of two salts of a day, the older salt stays. A new salt, without made_at, never replaces a
-- salt that a node may have read. A day that ended long ago gets no salt.
insert into door_salts as s (day, salt, made_at)
select sqlc.arg(day)::date, sqlc.arg(salt)::bytea, coalesce(sqlc.narg(made_at)::timestamptz, clock_timestamp())
where sqlc.arg(day)::date > (now() at time zone 'UTC')::date - 2
on conflict (day) do update set salt = excluded.salt, made_at = excluded.made_at
where sqlc.narg(made_at)::timestamptz is not null and (excluded.made_at, excluded.salt) < (s.made_at, s.salt);

-- name: DoorSalts :many
-- Index: door_salts_pkey.
select day, salt, made_at from door_salts where day > (now() at time zone 'UTC')::date - 2 order by day;

-- name: HasOldDoorSalts :one
-- Index: door_salts_pkey.
select exists (select from door_salts where day <= (deletion_time() at time zone 'UTC')::date - 2);

-- name: LockDoorSalts :exec
lock table door_salts in access exclusive mode;

-- name: TruncateDoorSalts :exec
truncate door_salts;
