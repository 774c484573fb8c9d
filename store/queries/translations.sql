-- name: LockSpaceToTranslate :one
-- Locks a space of the organization as source. So only one translation at a time is added to the space. It waits for
-- a transfer of the space to another organization.
select id from spaces where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id) for no key update;

-- name: TranslationInto :one
-- Index: translations_space (source_space_id).
-- Sorts: the translations of one space.
select id from translations where source_space_id = sqlc.arg(source_space_id) and language = sqlc.arg(language) order by id limit 1;

-- name: InsertTranslation :one
insert into translations (id, organization_id, source_space_id, source_language, language, instructions)
values (sqlc.arg(id), sqlc.arg(organization_id), sqlc.arg(source_space_id), sqlc.arg(source_language), sqlc.arg(language), sqlc.arg(instructions))
returning *;

-- name: TranslationByID :one
select * from translations where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: UpdateTranslation :one
update translations set instructions = sqlc.arg(instructions), updated_at = now()
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

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

-- name: LockTranslation :one
select * from translations where id = $1 for no key update;

-- name: QueueTranslationRun :execrows
-- A queued run serves this request, too.
insert into translation_runs (id, translation_id, state) values (sqlc.arg(id), sqlc.arg(translation_id), 'queued')
on conflict (translation_id) where state = 'queued' do nothing;

-- name: LockTranslationRun :one
select * from translation_runs where id = $1 for update;

-- name: StartTranslationRun :exec
-- A run that is tried again began when it was tried first.
update translation_runs set state = 'running', reason = '', finished_at = null, started_at = coalesce(started_at, now()) where id = $1;

-- name: FailTranslationRun :execrows
update translation_runs set state = 'failed', reason = sqlc.arg(reason), finished_at = now()
where id = sqlc.arg(id) and state in ('queued', 'running');

-- name: FailLostTranslationRuns :exec
-- Fails open runs whose job is over: see FailLostGitOperations.
-- Index: translation_runs_open.
-- Sorts: the jobs of a run.
update translation_runs r set state = 'failed', finished_at = now(), reason = coalesce((
    select j.errors[array_upper(j.errors, 1)] ->> 'error' from river_job j
    where j.state in ('cancelled', 'discarded') and j.kind = 'translate_space' and j.args ->> 'run' = r.id
    order by j.id desc limit 1
), sqlc.arg(reason)::text)
from translations t
where t.id = r.translation_id and r.state in ('queued', 'running') and not exists (
    select from river_job j
    where j.metadata ->> 'sequence' = 'translate_space ' || t.source_space_id and j.args ->> 'run' = r.id
      and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled')
);

-- name: FinishTranslationRun :one
update translation_runs set
    state = 'done', finished_at = now(), pages = sqlc.arg(pages), revision = sqlc.arg(revision), reports = sqlc.arg(reports), report_count = sqlc.arg(report_count)
where id = sqlc.arg(id)
returning words, (extract(epoch from now() - started_at) * 1000)::bigint as milliseconds;

-- name: FinishTranslation :exec
update translations set
    runs = runs + 1, updated_at = now(), result_space_id = sqlc.arg(result_space_id), result_revision = sqlc.arg(result_revision),
    made_revision = sqlc.arg(made_revision), source_revision = sqlc.arg(source_revision),
    total_words = total_words + sqlc.arg(words)::bigint, latest_words = sqlc.arg(words)::bigint,
    total_pages = total_pages + sqlc.arg(pages)::bigint, latest_pages = sqlc.arg(pages)::bigint,
    total_milliseconds = total_milliseconds + sqlc.arg(milliseconds)::bigint, latest_milliseconds = sqlc.arg(milliseconds)::bigint
where id = sqlc.arg(id);

-- name: DropOldTranslationRuns :exec
-- Index: translation_runs_translation (translation_id, id).
delete from translation_runs r
where r.translation_id = sqlc.arg(translation_id) and r.state in ('done', 'failed') and r.id < (
    select k.id from translation_runs k where k.translation_id = sqlc.arg(translation_id) order by k.id desc offset sqlc.arg(kept)::integer limit 1
);

-- name: ListTranslationRuns :many
-- Index: translation_runs_translation (translation_id, id).
select id, translation_id, state, reason, requested_at, started_at, finished_at, segments, words, pages, revision, report_count
from translation_runs
where translation_id = sqlc.arg(translation_id) and id < sqlc.arg(before)::text collate "C"
order by id desc
limit sqlc.arg(page_size);

-- name: CountTranslationRuns :one
-- Index: translation_runs_translation (translation_id, id).
select count(*) from translation_runs where translation_id = $1;

-- name: TranslationRunByID :one
select * from translation_runs where id = sqlc.arg(id) and translation_id = sqlc.arg(translation_id);

-- name: LatestTranslationRuns :many
-- The last run of each of some translations, and whether any is running.
-- Index: translation_runs_translation (translation_id, id).
-- Sorts: the runs of a translation, which are few.
select distinct on (r.translation_id) r.translation_id, r.state, r.reason, r.requested_at,
    exists (select from translation_runs o where o.translation_id = r.translation_id and o.state = 'running') as running
from translation_runs r
where r.translation_id = any(sqlc.arg(translations)::text[])
order by r.translation_id, r.id desc;

-- name: TranslatedSegments :many
-- Requested segments stay in use.
with asked as (
    update translation_segments s set used_at = now()
    where s.translation_id = sqlc.arg(translation_id) and s.key = any(sqlc.arg(keys)::text[]) and s.used_at < now() - interval '1 day'
)
select s.key, s.target, s.problem from translation_segments s
where s.translation_id = sqlc.arg(translation_id) and s.key = any(sqlc.arg(keys)::text[]);

-- name: KeepTranslatedSegments :exec
with counted as (
    update translation_runs set segments = segments + sqlc.arg(segments)::bigint, words = words + sqlc.arg(words)::bigint where id = sqlc.arg(run_id)
)
insert into translation_segments (translation_id, key, target, problem)
select sqlc.arg(translation_id), unnest(sqlc.arg(keys)::text[]), unnest(sqlc.arg(targets)::text[]), unnest(sqlc.arg(problems)::text[])
on conflict (translation_id, key) do update set target = excluded.target, problem = excluded.problem, used_at = now();

-- name: DropUnusedSegments :exec
-- Index: translation_segments_pkey.
delete from translation_segments
where translation_id = sqlc.arg(translation_id) and used_at < deletion_time() - sqlc.arg(kept)::interval;

-- name: Corrections :many
-- Index: translation_corrections_pkey.
-- No order: a map is made of them.
select page_id, segment, target, source from translation_corrections where translation_id = $1;

-- name: DropCorrections :exec
-- Index: translation_corrections_pkey.
delete from translation_corrections where translation_id = $1;

-- name: InsertCorrections :exec
insert into translation_corrections (translation_id, page_id, segment, target, source)
select sqlc.arg(translation_id), unnest(sqlc.arg(pages)::text[]), unnest(sqlc.arg(segments)::text[]), unnest(sqlc.arg(targets)::text[]),
    unnest(sqlc.arg(sources)::text[]);

-- name: CopySpaceSettings :exec
-- A copy is seen by those who see its source, is merged by the same rules, and looks alike.
update spaces c set default_level = s.default_level, merge_rules = s.merge_rules, icon = s.icon
from spaces s where s.id = sqlc.arg(source) and c.id = sqlc.arg(copied);

-- name: CopySpaceGrants :exec
-- Index: grants_space.
insert into grants (organization_id, space_id, user_id, team_id, role)
select organization_id, sqlc.arg(copied)::text, user_id, team_id, role from grants where space_id = sqlc.arg(source)::text;

-- name: CopyIsMoreOpen :one
-- Whether a member sees a copy and not its source. The paths have the ids from each space up to the top.
select exists (
    select from spaces c
        cross join access_to('', c.id, c.default_level, c.parent_id) x
        cross join ranks_on_content(c.organization_id, x.level, sqlc.arg(copied_path)::text[]) seen (user_id, rank)
        join spaces s on s.id = sqlc.arg(source)::text
        cross join access_to('', s.id, s.default_level, s.parent_id) y
        cross join ranks_on_content(s.organization_id, y.level, sqlc.arg(source_path)::text[]) hidden (user_id, rank)
    where c.id = sqlc.arg(copied)::text and seen.user_id = hidden.user_id and seen.rank > 0 and hidden.rank = 0
);

-- name: CopyFiles :exec
-- Files of a revision become files of another space, with the same ids.
-- Index: branch_files_pkey.
with named as (
    select f.file_id, f.name, f.content_type, f.size, f.hash
    from revisions r
        join branch_files f on f.branch = r.branch and f.since <= r.seq and f.until > r.seq
            or f.branch = r.base and f.since <= r.base_seq and f.until > r.base_seq
    where r.space_id = sqlc.arg(source)::text and r.id = sqlc.arg(revision)::text and f.file_id = any(sqlc.arg(ids)::text[])
), contents as (
    insert into files (space_id, hash, content, file_refs, width, height)
    select sqlc.arg(copied)::text, f.hash, f.content, f.file_refs, f.width, f.height from files f
    where f.space_id = sqlc.arg(source)::text and f.hash in (select n.hash from named n)
    on conflict do nothing
)
insert into branch_files (branch, since, file_id, name, content_type, size, hash)
select sqlc.arg(copied)::text, sqlc.arg(since)::integer, n.file_id, n.name, n.content_type, n.size, n.hash from named n
on conflict do nothing;

-- name: CopyFileAs :exec
-- A file of a revision becomes a file of another space, with another id and content.
-- Index: branch_files_pkey.
insert into branch_files (branch, since, file_id, name, content_type, size, hash)
select sqlc.arg(copied)::text, sqlc.arg(since)::integer, sqlc.arg(id)::text, f.name, f.content_type, sqlc.arg(size)::bigint, sqlc.arg(hash)::text
from revisions r
    join branch_files f on f.branch in (r.branch, r.base) and f.file_id = sqlc.arg(file_id)
        and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
where r.space_id = sqlc.arg(source)::text and r.id = sqlc.arg(revision)::text
limit 1
on conflict (branch, file_id) do update set until = excluded.until;
