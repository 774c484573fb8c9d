-- Organizations can be deleted: at once for everybody, and piece by piece in the database.

-- +goose Up
-- When the organization was deleted. It has no members from then on, which hides it; its content goes in the background.
alter table organizations add column deleted_at timestamptz;
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

-- +goose Down
drop index organizations_deleted;
alter table organizations drop column deleted_at;
