-- name: InsertUser :one
insert into users (id, display_name, email) values ($1, $2, $3) returning *;

-- name: UserByID :one
select * from users where id = $1;

-- name: UserByEmail :one
-- Index: users_email.
select * from users where lower(email) = lower(sqlc.arg(email)::text);

-- name: AnyUser :one
select exists (select 1 from users);

-- name: UsersByID :many
-- Index: users_pkey.
select * from users where id = any(sqlc.arg(ids)::text[]);
