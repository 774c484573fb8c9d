-- +goose Up

-- Finds the file of a page, which links are relative to.
create index git_sync_files_page on git_sync_files (sync_id, page_id) where page_id <> '';
