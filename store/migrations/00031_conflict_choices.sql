-- +goose Up
-- How users resolved conflicts of a change request with the main content. The id of a conflict is that of package merge: it is
-- derived from the versions in conflict, so a choice never applies to content that its user did not see. Choices go when an update or
-- a merge has carried them out.
create table conflict_choices (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    conflict_id       text collate "C" not null,
    -- As in package merge: ours is the main content, theirs the change request.
    take              text             not null check (take in ('ours', 'theirs', 'value')),
    -- JSON, as text: jsonb would change numbers, and has bounds of its own.
    value             text,
    user_id           text collate "C" not null references users (id),
    chosen_at         timestamptz      not null default now(),
    primary key (change_request_id, conflict_id),
    check ((value is null) = (take <> 'value'))
);

-- +goose Down
drop table conflict_choices;
