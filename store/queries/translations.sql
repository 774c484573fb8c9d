-- name: InsertTranslation :one
-- Takes a space of the same organization as source, and no other.
insert into translations (id, organization_id, source_space_id, source_language, language, instructions)
select sqlc.arg(id), s.organization_id, s.id, sqlc.arg(source_language), sqlc.arg(language), sqlc.arg(instructions)
from spaces s
where s.id = sqlc.arg(source_space_id) and s.organization_id = sqlc.arg(organization_id)
-- A space that is being given to another organization is waited for.
for key share of s
returning *;

-- name: TranslationByID :one
select * from translations where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: UpdateTranslation :one
update translations set instructions = sqlc.arg(instructions), updated_at = now()
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

-- name: RequestTranslationRun :execrows
update translations set run_requested_at = now(), updated_at = now()
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: DeleteTranslation :exec
delete from translations where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: ListTranslations :many
-- Index: translations_organization (organization_id, id).
select * from translations
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountTranslations :one
-- No index: every index that starts with the organization does as well.
select count(*) from translations where organization_id = $1;
