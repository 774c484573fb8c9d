-- name: InsertRevision :exec
insert into revisions (id, space_id, type, parents, pages, files, change_request_id, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8);
