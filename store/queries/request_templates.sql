-- name: InsertRequestTemplate :one
insert into change_request_templates (id, space_id, title, description, pages) values ($1, $2, $3, $4, $5) returning *;

-- name: RequestTemplate :one
-- Index: change_request_templates_space (space_id, id).
select * from change_request_templates where space_id = sqlc.arg(space_id) and id = sqlc.arg(id);

-- name: ListRequestTemplates :many
-- Index: change_request_templates_space (space_id, id).
select * from change_request_templates
where space_id = sqlc.arg(space_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountRequestTemplates :one
-- Index: change_request_templates_space (space_id, id).
select count(*) from change_request_templates where space_id = $1;

-- name: DeleteRequestTemplate :exec
delete from change_request_templates where space_id = $1 and id = $2;
