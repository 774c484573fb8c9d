-- +goose Up

-- A browser's session acts as a user's token, or as a session of single sign-on, and ends with it.
create table browser_sessions (
    id              text collate "C" primary key,
    -- Hash of the cookie's secret; before the session is opened, of the secret of the link that opens it.
    hash            bytea       not null unique,
    opened          boolean     not null,
    token_id        text collate "C" references tokens (id) on delete cascade,
    session_id      text collate "C" references sessions (id) on delete cascade,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    -- When the link stops opening the session.
    link_expires_at timestamptz,
    check ((token_id is null) <> (session_id is null)),
    check (opened = (link_expires_at is null))
);
create index browser_sessions_token on browser_sessions (token_id) where token_id is not null;
create index browser_sessions_session on browser_sessions (session_id) where session_id is not null;
create index browser_sessions_end on browser_sessions (expires_at);
