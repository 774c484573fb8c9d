-- Who may read the newest version of a specification: the organization, or everybody at an address of its own.

-- +goose Up
alter table openapi_specs add column visibility text not null default 'private' check (visibility in ('private', 'public'));

-- +goose Down
alter table openapi_specs drop column visibility;
