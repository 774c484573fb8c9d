-- name: ConflictChoices :many
-- Index: conflict_choices_pkey (change_request_id, conflict_id).
select * from conflict_choices where change_request_id = $1;

-- name: SetConflictChoice :exec
insert into conflict_choices (change_request_id, conflict_id, take, value, user_id) values ($1, $2, $3, $4, $5)
on conflict (change_request_id, conflict_id) do update set
    take = excluded.take, value = excluded.value, user_id = excluded.user_id, chosen_at = excluded.chosen_at;

-- name: DeleteConflictChoices :exec
delete from conflict_choices
where change_request_id = sqlc.arg(change_request_id) and conflict_id = any(sqlc.arg(conflict_ids)::text[]);

-- name: DeleteAllConflictChoices :exec
delete from conflict_choices where change_request_id = $1;
