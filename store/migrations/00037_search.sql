-- Search by words of the space's language, beginnings of words and misspelled words.

-- +goose Up
drop table search_pages;
drop table search_spaces;

-- What is indexed of each space. None of these tables has a foreign key to spaces: their rows go in parts, with the content.
create table search_spaces (
    space_id   text collate "C" primary key,
    -- Every word in the index begins with the number of its space.
    number     bigint not null generated always as identity unique,
    -- The revision that is indexed; '' if everything is to be written.
    revision   text collate "C" not null default '',
    -- How it is indexed: the version of the words, and the dictionary of the space's language.
    dictionary text collate "C" not null,
    -- The revision that is being indexed, '' for none, and the last page that is done.
    target     text collate "C" not null default '',
    reached    text collate "C" not null default ''
);

-- The pages that searches find. Words are kept out of line: counting matches must not read them.
create table search_pages (
    space_id text collate "C" not null,
    page_id  text collate "C" not null,
    title    text     not null,
    path     text     not null,
    -- With the title, what the words were made of; a page that has the same is not written again.
    description text not null,
    document text collate "C" not null,
    -- The words of the title and of headings, for finding the best pages first.
    top      tsvector not null,
    words    tsvector not null,
    primary key (space_id, page_id)
) with (toast_tuple_target = 256);
alter table search_pages alter column words set storage external, alter column title set storage main, alter column path set storage main, alter column description set storage main;

-- Without a list of pending entries, which every search would read: jobs write, and can wait.
create index search_pages_words on search_pages using gin (words) with (fastupdate = off);
create index search_pages_top on search_pages using gin (top) with (fastupdate = off);

-- The vocabulary of each space, for misspelled words: how many pages have the word, and what words have in common with those
-- that differ in one letter. Only `pages` ever changes, in place.
create table search_words (
    number bigint           not null,
    word   text collate "C" not null,
    pages  integer          not null,
    near   text[]           not null,
    primary key (number, word)
) with (fillfactor = 80);
create index search_words_near on search_words using gin (near) with (fastupdate = off);

-- Every space that has content is indexed anew.
insert into river_job (kind, queue, args, metadata, max_attempts)
select 'index_space', 'index_space', jsonb_build_object('organization', s.organization_id, 'space', s.id),
       jsonb_build_object('organization', s.organization_id, 'space', s.id, 'sequence', 'index_space ' || s.id), 12
from spaces s join revisions r on r.space_id = s.id and r.id = s.revision
where r.page_count > 0 and not exists (
    select from river_job j
    where j.metadata ->> 'sequence' = 'index_space ' || s.id
      and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled'));

-- +goose Down
-- There is no way back: what was indexed is not kept.
