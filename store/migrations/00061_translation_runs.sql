-- What translates spaces: runs, what they have translated so far, and the copies that they keep.

-- +goose Up
alter table translations
    -- Of the runs that are done.
    add column total_words bigint not null default 0,
    add column total_pages bigint not null default 0,
    add column total_milliseconds bigint not null default 0,
    add column latest_words bigint not null default 0,
    add column latest_pages bigint not null default 0,
    add column latest_milliseconds bigint not null default 0,
    -- The copy of the source, and its revision after the last run.
    add column result_space_id text collate "C" references spaces (id) on delete set null,
    add column result_revision text collate "C",
    -- The revision of the copy with the pages as the last run made them, without what people have changed; and the revision of the
    -- source that they were made of.
    add column made_revision text collate "C",
    add column source_revision text collate "C";
create index translations_result on translations (result_space_id) where result_space_id is not null;

create table translation_runs (
    id             text collate "C" primary key,
    translation_id text collate "C" not null references translations (id) on delete cascade,
    state          text        not null check (state in ('queued', 'running', 'done', 'failed')),
    -- Why it failed.
    reason         text        not null default '',
    requested_at   timestamptz not null default now(),
    started_at     timestamptz,
    finished_at    timestamptz,
    -- What was sent to the provider, over all attempts.
    segments       bigint      not null default 0,
    words          bigint      not null default 0,
    -- The pages of the copy that it changed, and its revision after that.
    pages          bigint      not null default 0,
    revision       text collate "C",
    -- What people should look at, and how many there are, of which the list may have only the first.
    reports        jsonb       not null default '[]',
    report_count   bigint      not null default 0
);
create index translation_runs_translation on translation_runs (translation_id, id);
-- One that waits does for all that are asked for until it starts.
create unique index translation_runs_queued on translation_runs (translation_id) where state = 'queued';
create index translation_runs_open on translation_runs (translation_id) where state in ('queued', 'running');

-- Translations by the key of their segment, which holds all that they depend on, so that nothing is translated twice.
create table translation_segments (
    translation_id text collate "C" not null references translations (id) on delete cascade,
    key            text collate "C" not null,
    target         text        not null,
    problem        text        not null default '',
    used_at        timestamptz not null default now(),
    primary key (translation_id, key)
);

-- The segments that people have corrected: hashes of what the copy has there, and of the source as it was when they did.
create table translation_corrections (
    translation_id text collate "C" not null references translations (id) on delete cascade,
    page_id        text collate "C" not null,
    segment        text collate "C" not null,
    target         text        not null,
    source         text        not null,
    primary key (translation_id, page_id, segment)
);

-- Nothing could translate before, so what was asked for never happened.
insert into translation_runs (id, translation_id, state, reason, requested_at, finished_at)
select t.id || '-0', t.id, 'failed', 'it was asked of a version of the service that could not translate: ask again', t.run_requested_at, now()
from translations t where t.run_requested_at is not null;
alter table translations drop column run_requested_at;

-- +goose Down
alter table translations add column run_requested_at timestamptz;
update translations t set run_requested_at = (select max(r.requested_at) from translation_runs r where r.translation_id = t.id);
drop table translation_corrections;
drop table translation_segments;
drop table translation_runs;
alter table translations
    drop column total_words, drop column total_pages, drop column total_milliseconds, drop column latest_words, drop column latest_pages,
    drop column latest_milliseconds, drop column result_space_id, drop column result_revision, drop column made_revision, drop column source_revision;
