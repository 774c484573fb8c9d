-- name: LockGlossary :exec
-- Changes of a glossary run in turns. So changes of several entries do not mix, and do not deadlock.
select pg_advisory_xact_lock(hashtextextended('glossary ' || sqlc.arg(organization_id)::text, 0));

-- name: InsertGlossaryEntries :exec
insert into glossary_entries (id, organization_id, translations)
select unnest(sqlc.arg(ids)::text[]), sqlc.arg(organization_id), unnest(sqlc.arg(translations)::jsonb[]);

-- name: UpdateGlossaryEntries :exec
update glossary_entries g set translations = x.translations, updated_at = now()
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(translations)::jsonb[]) as translations) x
where g.id = x.id and g.organization_id = sqlc.arg(organization_id);

-- name: DeleteGlossaryEntries :exec
delete from glossary_entries where organization_id = sqlc.arg(organization_id) and id = any(sqlc.arg(ids)::text[]);

-- name: GlossaryEntriesAmong :many
select id from glossary_entries where organization_id = sqlc.arg(organization_id) and id = any(sqlc.arg(ids)::text[]);

-- name: GlossaryEntryByID :one
select * from glossary_entries where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: ListGlossaryEntries :many
-- Index: glossary_entries_organization (organization_id, id).
select * from glossary_entries
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: ListGlossaryEntriesByTerm :many
-- No index: there would be one per language; an organization's glossary is small and found by its own index.
-- Entries without a term of the language are last.
select sqlc.embed(g), t.term::text as term
from glossary_entries g
cross join lateral (
    select (case when g.translations ? sqlc.arg(language)::text
        then '0' || lower(g.translations ->> sqlc.arg(language)::text) else '1' end) collate "C" as term
) t
where g.organization_id = sqlc.arg(organization_id)
  and (t.term, g.id) > (sqlc.arg(after_term)::text collate "C", sqlc.arg(after)::text collate "C")
order by t.term, g.id
limit sqlc.arg(page_size);

-- name: CountGlossaryEntries :one
-- No index: every index that starts with the organization does as well.
select count(*) from glossary_entries where organization_id = $1;
