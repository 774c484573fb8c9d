-- What logins by SAML leave: who a NameID is, which answers were used, and the sessions.

-- +goose Up

-- An identity is bound to its provider: the same name at another provider is somebody else. It goes with the membership, so that
-- somebody who is removed starts anew, and with the provider.
create table saml_identities (
    provider_id     text collate "C" not null references saml_providers (id) on delete cascade,
    name_id         text collate "C" not null,
    organization_id text collate "C" not null,
    user_id         text collate "C" not null,
    created_at      timestamptz not null default now(),
    last_login_at   timestamptz not null default now(),
    primary key (provider_id, name_id),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);
create index saml_identities_member on saml_identities (user_id, organization_id);

-- The requests that were answered, until no answer to them would be taken any more: every answer logs in once, at every node.
create table saml_answers (
    provider_id text collate "C" not null references saml_providers (id) on delete cascade,
    request_id  text collate "C" not null,
    expires_at  timestamptz not null,
    primary key (provider_id, request_id)
);
create index saml_answers_end on saml_answers (expires_at);

-- A session acts for its user in one organization only. Until it is opened, its hash is that of the code that opens it.
create table sessions (
    id              text collate "C" primary key,
    -- SHA-256 of the token, or of the code.
    hash            bytea       not null unique,
    opened          boolean     not null,
    provider_id     text collate "C" not null references saml_providers (id) on delete cascade,
    organization_id text collate "C" not null,
    user_id         text collate "C" not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    -- When the code stops opening it.
    code_expires_at timestamptz,
    last_used_at    timestamptz,
    check (opened or code_expires_at is not null),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);
create index sessions_member on sessions (user_id, organization_id, id);
create index sessions_provider on sessions (provider_id);
create index sessions_end on sessions (expires_at);

-- +goose Down
drop table sessions;
drop table saml_answers;
drop table saml_identities;
