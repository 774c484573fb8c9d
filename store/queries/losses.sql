-- name: NoteAcceptedLoss :exec
-- Index: accepted_losses_pkey.
insert into accepted_losses (engine, loss, accepted_at) values ($1, $2, now())
on conflict (engine) do update set loss = excluded.loss, accepted_at = excluded.accepted_at;
