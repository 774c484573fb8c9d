-- +goose Up
-- What change requests of a space can begin with.
create table change_request_templates (
    id          text collate "C" primary key,
    space_id    text collate "C" not null references spaces (id) on delete cascade,
    title       text             not null,
    description jsonb,
    -- The pages that a request of it adds: JSON, as text, because jsonb would change numbers in documents.
    pages       text             not null,
    created_at  timestamptz      not null default now()
);

create unique index change_request_templates_space on change_request_templates (space_id, id);

-- +goose Down
drop table change_request_templates;
