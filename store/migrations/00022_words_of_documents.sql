-- +goose Up

-- The number of words of a document, for lists of pages. Null until Migrate has read the row.
alter table documents add column words integer;

drop index documents_unread;
create index documents_unread on documents (space_id, hash) where file_refs is null or words is null;
