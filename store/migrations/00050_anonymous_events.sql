-- Sites whose events need no token.

-- +goose Up
alter table sites add column anonymous_events boolean not null default false;

-- +goose Down
alter table sites drop column anonymous_events;
