-- Nobody becomes a member without accepting, invites end, and the domains of e-mail addresses are proved.

-- +goose Up
-- A person who is invited by e-mail and has not accepted. It gives nothing until then. Within an organization the person's id is
-- that of the invite as well.
create table email_invites (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    user_id         text collate "C" not null references users (id) on delete cascade,
    -- As the inviter wrote it: of the person's account nothing is shown before the person accepts.
    email           text        not null,
    -- Null is a guest's.
    role            text check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    sso             boolean     not null default false,
    created_by      text collate "C" references users (id) on delete set null,
    created_at      timestamptz not null default now(),
    -- Null has no end.
    expires_at      timestamptz,
    primary key (organization_id, user_id)
);
create index email_invites_user on email_invites (user_id, organization_id);
create index email_invites_end on email_invites (expires_at);

-- Links that are there already end as well, and so do those that an older node makes during a roll.
alter table link_invites add column expires_at timestamptz default now() + interval '30 days';

-- The domains that an organization has shown to be its own. What stands in email_domains without a row here gives nothing.
create table domain_proofs (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    -- In lower case.
    domain          text collate "C" not null,
    proved_by       text        not null check (proved_by in ('dns', 'operator')),
    proved_at       timestamptz not null default now(),
    primary key (organization_id, domain)
);

-- +goose Down
drop table domain_proofs;
alter table link_invites drop column expires_at;
drop table email_invites;
