-- +goose Up

-- The files that a document names, and that the file of a reusable content names, as package filerefs writes them.
-- Readers of a site get the files that pages they see name. Null until Migrate has read the row: SQL cannot read
-- Markdown.
alter table documents add column file_refs jsonb;
alter table files add column file_refs jsonb;

-- Larger files are no reusable contents.
update files set file_refs = '{}' where octet_length(content) > 65536;

create index documents_unread on documents (space_id, hash) where file_refs is null;
create index files_unread on files (space_id, hash) where file_refs is null;

-- Few documents name files of other spaces.
create index documents_elsewhere on documents (space_id) where file_refs @? '$.files[*].space';
create index files_elsewhere on files (space_id) where file_refs @? '$.files[*].space';
