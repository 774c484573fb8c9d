-- The baseline has every table of the first version. The functions and triggers are in access/, functions/ and
-- audit_triggers.go. migrate.go applies their text after the migrations.
--
-- Ids are text in the collation "C", so that their order is the byte order that page tokens rely on.

-- +goose Up

-- The only row has the number of the data format, schema.Baseline. Migrate refuses a database with another number.
create table octavo_baseline (number integer not null);
insert into octavo_baseline values (1);

-- === Organizations and people

-- A person, or the user in whose name an installation's tokens write.
create table users (
    id           text collate "C" primary key,
    display_name text        not null,
    email        text,
    photo_url    text,
    created_at   timestamptz not null default now(),
    -- An invite created the account and nobody has used the account yet. The link in the mail gives the first token of
    -- an unclaimed account. It gives no token of a claimed account.
    unclaimed    boolean     not null default false
);
-- A person has one account, whatever the capitals in the address.
create unique index users_email on users (lower(email));

-- An organization: the tenant to which all content belongs.
create table organizations (
    id            text collate "C" primary key,
    title         text        not null,
    type          text        not null default 'business',
    plan          text        not null default 'internal',
    email_domains text[]      not null default '{}',
    invite_links  boolean     not null default true,
    default_role  text        check (default_role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    created_at    timestamptz not null default now(),
    hostname      text collate "C" unique,
    logo          text,
    -- References sites, which come later in this file.
    default_site  text collate "C",
    merge_rules   jsonb       not null default '{"type": "none"}',
    sso           boolean     not null default false,
    ai            boolean     not null default false,
    -- When the organization was deleted. From then on the organization has no members, so nobody sees it. Jobs delete
    -- its content later.
    deleted_at    timestamptz
);
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

-- A member of an organization. A membership without a role belongs to a guest.
create table memberships (
    user_id         text collate "C" not null references users (id) on delete cascade,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    role            text        check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    joined_at       timestamptz not null default now(),
    last_seen_at    timestamptz,
    -- The member signs in through the organization's provider.
    sso             boolean     not null default false,
    primary key (user_id, organization_id)
);
create index memberships_organization on memberships (organization_id, user_id);
create index memberships_joined on memberships (organization_id, joined_at, user_id);
create index memberships_seen on memberships (organization_id, coalesce(last_seen_at, 'epoch'), user_id);

-- The domains that an organization has proved to own. A domain in email_domains without a row here has no effect.
create table domain_proofs (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    -- In lower case.
    domain          text collate "C" not null,
    proved_by       text        not null check (proved_by in ('dns', 'operator')),
    proved_at       timestamptz not null default now(),
    primary key (organization_id, domain)
);

create table teams (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    title           text        not null,
    created_at      timestamptz not null default now()
);
create index teams_organization on teams (organization_id, id);

-- A member who leaves the organization leaves its teams.
create table team_members (
    team_id         text collate "C" not null references teams (id) on delete cascade,
    user_id         text collate "C" not null,
    organization_id text collate "C" not null,
    role            text        not null default 'member' check (role in ('owner', 'member')),
    primary key (team_id, user_id),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);
create index team_members_user on team_members (user_id, organization_id);

-- === Collections and spaces, and access to them

-- A collection groups spaces and other collections.
create table collections (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    parent_id       text collate "C",
    title           text        not null,
    description     text        not null default '',
    -- As spaces.default_level.
    default_level   text
        check (default_level in ('inherit', 'admin', 'create', 'review', 'edit', 'comment', 'read')) default 'inherit',
    -- Collections and spaces with the same parent share one order: by position, then by id. Positions have gaps
    -- (store/order.go), so a move usually changes one row, and lists continue from where they were.
    position        bigint      not null default 0,
    created_at      timestamptz not null default now(),
    -- Depth of the collection; 1 at the top. Triggers maintain it (functions/content.sql), so statements that change
    -- parents need not.
    depth           integer     not null default 1,
    unique (id, organization_id),
    -- Content of a collection belongs to the collection's organization, also after the collection moves to another.
    foreign key (parent_id, organization_id) references collections (id, organization_id) on update cascade
);
create index collections_parent on collections (parent_id, position, id);
-- Lists show parents before their content.
create index collections_order on collections (organization_id, depth, position, id);

-- A space: a tree of pages with its own history.
create table spaces (
    id                    text collate "C" primary key,
    organization_id       text collate "C" not null references organizations (id) on delete cascade,
    title                 text        not null,
    emoji                 text        not null,
    visibility            text        not null default 'private',
    edit_mode             text        not null default 'live',
    language              text,
    -- A role, 'inherit', or null: no access without a grant.
    default_level         text
        check (default_level in ('inherit', 'admin', 'create', 'review', 'edit', 'comment', 'read')) default 'inherit',
    revision              text        not null,
    created_at            timestamptz not null default now(),
    updated_at            timestamptz not null default now(),
    parent_id             text collate "C",
    position              bigint      not null default 0,
    icon                  text,
    merge_rules           jsonb       not null default '{"type": "inherit"}',
    -- Counters of the space's content. The statements that change the counted rows change them in the same transaction.
    open_comments         bigint      not null default 0,
    change_requests       integer     not null default 0,
    change_requests_open  integer     not null default 0,
    change_requests_draft integer     not null default 0,
    -- The number of the newest change request.
    change_request_number integer     not null default 0,
    -- With open_comments, the length of the list.
    resolved_comments     bigint      not null default 0,
    -- A copy of what the Git operations say about the repository, so that reading a space needs no other table.
    git_sync              jsonb,
    unique (id, organization_id),
    foreign key (parent_id, organization_id) references collections (id, organization_id) on update cascade
);
create index spaces_organization on spaces (organization_id, id);
create index spaces_parent on spaces (parent_id, position, id);

-- The content of collections: collections and spaces with the same parent share one order.
create view placed_content as
select 'collection'::text as type, c.id, c.organization_id, c.parent_id, c.position from collections c
union all
select 'space', s.id, s.organization_id, s.parent_id, s.position from spaces s;

-- Deleted spaces that still have content. Jobs delete the content in steps.
create table deleted_spaces (
    id         text collate "C" primary key,
    deleted_at timestamptz not null default now()
);

-- The role of a member or a team on a space, or on a collection and its content.
create table grants (
    organization_id text collate "C" not null,
    collection_id   text collate "C" references collections (id) on delete cascade,
    space_id        text collate "C" references spaces (id) on delete cascade,
    user_id         text collate "C",
    team_id         text collate "C" references teams (id) on delete cascade,
    role            text        not null check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    created_at      timestamptz not null default now(),
    check (num_nonnulls(collection_id, space_id) = 1),
    check (num_nonnulls(user_id, team_id) = 1),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);
create unique index grants_once on grants (collection_id, space_id, user_id, team_id) nulls not distinct;
create index grants_collection_user on grants (collection_id, user_id) where user_id is not null;
create index grants_collection_team on grants (collection_id, team_id) where team_id is not null;
create index grants_space on grants (space_id) where space_id is not null;
create index grants_user on grants (user_id, organization_id) where user_id is not null;
create index grants_team on grants (team_id) where team_id is not null;

-- The row type of access_to; the table stays empty. sqlc knows the columns of tables only, not of other types. The
-- columns decide a user's access to content, together with the role in the organization: the level that applies there
-- ('inherit' only if nothing up to the top says otherwise), and the rank of the user's highest grant there and above.
create table content_access (
    level      text,
    grant_rank integer     not null
);

-- === Invites

-- An invite by e-mail that the person has not accepted. It gives no access until then. The user's id also identifies
-- the invite within the organization.
create table email_invites (
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    user_id         text collate "C" not null references users (id) on delete cascade,
    -- As the inviter wrote it. The person's account stays hidden until the person accepts.
    email           text        not null,
    -- Null for a guest.
    role            text        check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    sso             boolean     not null default false,
    created_by      text collate "C" references users (id) on delete set null,
    created_at      timestamptz not null default now(),
    -- Null for an invite without end.
    expires_at      timestamptz,
    -- off: the service could not send mail. waiting: a job sends it. failed: the job gave up.
    mail_state      text        not null default 'off' check (mail_state in ('off', 'waiting', 'sent', 'failed')),
    -- Names the mail. Its Message-ID and the secret of its link derive from it, so every attempt sends the same mail.
    mail_id         text collate "C",
    -- Why the last attempt failed.
    mail_reason     text,
    mail_asked_at   timestamptz,
    mail_sent_at    timestamptz,
    -- SHA-256 of the link's secret. Null without a link: no mail was sent, or members log in through the provider.
    link_hash       bytea       unique,
    primary key (organization_id, user_id)
);
create index email_invites_user on email_invites (user_id, organization_id);
create index email_invites_end on email_invites (expires_at);
create index email_invites_mail on email_invites (organization_id, user_id) where mail_state = 'waiting';

-- A link that makes its users members, or gives its users access to one space or collection.
create table link_invites (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    -- A role in the organization, or a level on one space or collection. Null for a guest.
    role            text        check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    space_id        text collate "C" references spaces (id) on delete cascade,
    collection_id   text collate "C" references collections (id) on delete cascade,
    created_by      text collate "C" references users (id) on delete set null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz default now() + interval '30 days',
    check (num_nonnulls(space_id, collection_id) <= 1)
);
create index link_invites_organization on link_invites (organization_id, id)
    where space_id is null and collection_id is null;
create index link_invites_space on link_invites (space_id) where space_id is not null;
create index link_invites_collection on link_invites (collection_id) where collection_id is not null;
-- Quotas count all invites of an organization, including invites to content.
create index link_invites_quota on link_invites (organization_id);

-- The number of invites by mail on a day, for each organization, inviter and invited person, and for all together.
create table mail_counts (
    -- The id of an organization or of an invited person; 'by ' and the id of an inviter; 'all'.
    subject text collate "C" not null,
    day     date        not null,
    mails   bigint      not null,
    primary key (subject, day)
);
create index mail_counts_day on mail_counts (day);

-- === SAML and sessions

-- A SAML identity provider. It is active once the service has everything it needs to trust it.
create table saml_providers (
    id                 text collate "C" primary key,
    organization_id    text collate "C" not null references organizations (id) on delete cascade,
    label              text        not null,
    entity_id          text,
    certificate        text,
    -- Whether the certificate parses. The certificate itself stays as the administrator sent it.
    certificate_usable boolean     not null default false,
    sso_url            text,
    -- The team and the role of people at their first login.
    default_team_id    text collate "C" references teams (id) on delete set null,
    default_role       text        check (default_role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    active             boolean     not null
        generated always as (entity_id is not null and certificate_usable and sso_url is not null) stored,
    created_at         timestamptz not null default now()
);
create index saml_providers_organization on saml_providers (organization_id, id);
create index saml_providers_team on saml_providers (default_team_id) where default_team_id is not null;
create index saml_providers_active on saml_providers (organization_id, id) where active;

-- The user of a NameID. The same name at another provider is another person. Rows are deleted with the membership, so a
-- removed member starts again. Rows are also deleted with the provider.
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

-- Answered login requests, until any answer to them is too old. An answer logs in once, across all nodes.
create table saml_answers (
    provider_id text collate "C" not null references saml_providers (id) on delete cascade,
    request_id  text collate "C" not null,
    expires_at  timestamptz not null,
    primary key (provider_id, request_id)
);
create index saml_answers_end on saml_answers (expires_at);

-- A session acts for its user in one organization only.
create table sessions (
    id              text collate "C" primary key,
    -- SHA-256 of the token; before the session is opened, of the code that opens it.
    hash            bytea       not null unique,
    opened          boolean     not null,
    provider_id     text collate "C" not null references saml_providers (id) on delete cascade,
    organization_id text collate "C" not null,
    user_id         text collate "C" not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    -- When the code stops opening the session.
    code_expires_at timestamptz,
    last_used_at    timestamptz,
    check (opened or code_expires_at is not null),
    foreign key (user_id, organization_id) references memberships (user_id, organization_id) on delete cascade
);
create index sessions_member on sessions (user_id, organization_id, id);
create index sessions_provider on sessions (provider_id);
create index sessions_end on sessions (expires_at);

-- === Sites

-- A site publishes spaces to readers.
create table sites (
    id                 text collate "C" primary key,
    organization_id    text collate "C" not null references organizations (id) on delete cascade,
    type               text        not null,
    title              text        not null,
    visibility         text        not null,
    published          boolean     not null default false,
    agents_context     text        not null default 'included',
    -- The insights store keyed hashes of visitor and session ids; a site may ask for the clear ids as well.
    store_clear_ids    boolean     not null default false,
    created_at         timestamptz not null default now(),
    basename           text,
    -- Null until an administrator decides.
    adaptive_content   boolean,
    proxy              text,
    -- In lower case. It has no effect until it is proved.
    hostname           text collate "C",
    hostname_proved_by text        check (hostname_proved_by in ('dns', 'operator')),
    hostname_proved_at timestamptz,
    -- Posting events needs no token.
    anonymous_events   boolean     not null default false,
    check ((hostname_proved_by is null) = (hostname_proved_at is null)),
    check (hostname is not null or hostname_proved_at is null)
);
create index sites_organization on sites (organization_id, id);
create unique index sites_basename on sites (basename, organization_id);
-- Several sites may claim a name. The site that proves the name gets it.
create unique index sites_hostname on sites (hostname) where hostname_proved_at is not null;

alter table organizations add foreign key (default_site) references sites (id) on delete set null;

-- Site structure: sections, their groups, and site spaces. `position` counts within the parent, with gaps. `rank`
-- spells the positions from the root to the row, so ranks sort like the structure from top to bottom. Lists page by
-- rank. A rank changes only when its row or an ancestor moves, so pages neither skip nor repeat rows that stay. Only
-- writers that hold the lock of the site's row change positions, and they also update every affected rank.
create table site_section_groups (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    parent_id  text collate "C" references site_section_groups (id) on delete set null,
    title      text        not null,
    icon       text,
    position   bigint      not null,
    rank       text collate "C" not null default '',
    created_at timestamptz not null default now()
);
create index site_section_groups_rank on site_section_groups (site_id, rank);
create index site_section_groups_parent on site_section_groups (parent_id);

create table site_sections (
    id          text collate "C" primary key,
    site_id     text collate "C" not null references sites (id) on delete cascade,
    group_id    text collate "C" references site_section_groups (id) on delete set null,
    title       text        not null,
    description text,
    path        text collate "C" not null,
    condition   text,
    icon        text,
    is_default  boolean     not null default false,
    position    bigint      not null,
    rank        text collate "C" not null default '',
    created_at  timestamptz not null default now(),
    constraint site_sections_path unique (site_id, path)
);
create index site_sections_rank on site_sections (site_id, rank);
create unique index site_sections_default on site_sections (site_id) where is_default;
create index site_sections_group on site_sections (group_id);

-- A space on a site: in a section, or at the root if the site has no sections. A space may be in several sections.
create table site_spaces (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    space_id   text collate "C" not null references spaces (id) on delete cascade,
    position   bigint      not null,
    created_at timestamptz not null default now(),
    section_id text collate "C" references site_sections (id) on delete cascade,
    path       text collate "C" not null,
    condition  text,
    hidden     boolean     not null default false,
    is_default boolean     not null default false,
    rank       text collate "C" not null default ''
);
create index site_spaces_rank on site_spaces (site_id, rank);
create unique index site_spaces_path on site_spaces (path, site_id, section_id) nulls not distinct;
-- Also finds the sites of a space.
create unique index site_spaces_once on site_spaces (space_id, site_id, section_id) nulls not distinct;
create unique index site_spaces_default on site_spaces (site_id, section_id) nulls not distinct where is_default;
create index site_spaces_section on site_spaces (section_id, rank);

create table share_links (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    name       text        not null,
    -- The key lets its owners read the site. The key is part of addresses, so it is stored in clear.
    key        text collate "C" not null unique,
    active     boolean     not null default true,
    created_at timestamptz not null default now()
);
create index share_links_site on share_links (site_id, id);

-- The ids are no foreign keys: a redirect remains when its target is deleted.
create table site_redirects (
    id              text collate "C" primary key,
    site_id         text collate "C" not null references sites (id) on delete cascade,
    source          text        not null,
    -- The source in the form that sources are compared in: store.NormalSource.
    source_key      text collate "C" not null,
    kind            text        not null check (kind in ('site-section', 'site-space', 'site-page', 'external')),
    site_section_id text collate "C",
    site_space_id   text collate "C",
    page_id         text,
    url             text,
    created_at      timestamptz not null default now(),
    constraint site_redirects_source unique (source_key, site_id)
);
create index site_redirects_site on site_redirects (site_id, id);

-- Explicitly set settings only. Reading adds the defaults and, for site spaces, the site's settings.
create table site_customizations (
    site_id    text collate "C" primary key references sites (id) on delete cascade,
    settings   jsonb       not null,
    updated_at timestamptz not null default now()
);

create table site_space_customizations (
    site_space_id text collate "C" primary key references site_spaces (id) on delete cascade,
    overrides     jsonb       not null,
    updated_at    timestamptz not null default now()
);

-- How a site recognizes visitors for whom its own service vouches.
create table site_visitor_auth (
    site_id      text collate "C" primary key references sites (id) on delete cascade,
    -- The key with which the site's service signs visitor tokens, sealed with the installation's key.
    key          bytea       not null,
    -- Where visitors without a valid token log in.
    fallback_url text,
    updated_at   timestamptz not null default now()
);

-- === Tokens and keys

-- Bearer tokens of users, sites and front ends. A front end's token works for every published site and has no owner.
create table tokens (
    id           text collate "C" primary key,
    -- SHA-256 of the token. The token itself is shown once and stored nowhere.
    hash         bytea       not null unique,
    kind         text        not null check (kind in ('user', 'site', 'front-end')),
    name         text        not null,
    user_id      text collate "C" references users (id) on delete cascade,
    site_id      text collate "C" references sites (id) on delete cascade,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    check ((kind = 'user') = (user_id is not null)),
    check ((kind = 'site') = (site_id is not null))
);
create index tokens_user on tokens (user_id, id);
create index tokens_site on tokens (site_id, id);

-- The keys that sign site tokens.
create table site_token_keys (
    -- The week in which the key signs, so all nodes choose the same key without asking each other.
    name       text collate "C" primary key,
    -- Sealed with the installation's key.
    sealed     bytea       not null,
    created_at timestamptz not null default now()
);

-- Secrets that the installation generated for itself.
create table secrets (
    name       text        primary key,
    value      bytea       not null,
    created_at timestamptz not null default now()
);

-- === Revisions, pages and files

-- A revision never changes. Its pages are rows of branch_pages. Revisions and the tables of content have no foreign key
-- to spaces: deleted_spaces lists what jobs delete later, in steps.
create table revisions (
    id                text collate "C" primary key,
    space_id          text collate "C" not null,
    type              text        not null check (type in ('edits', 'merge', 'rollback', 'update', 'computed')),
    parents           text[]      not null default '{}',
    -- The change request that a merge took in.
    change_request_id text collate "C",
    created_by        text collate "C" references users (id) on delete set null,
    created_at        timestamptz not null default now(),
    branch            text collate "C" not null,
    -- Counts the revisions of the branch.
    seq               integer     not null default 1,
    -- The branch and its revision from which this branch stores the differences. Null if the branch has all its pages.
    base              text collate "C",
    base_seq          integer     not null default 0,
    page_count        integer     not null default 0
);
create index revisions_space on revisions (space_id, id);
create unique index revisions_branch on revisions (branch, seq);

-- The pages of branches. The branch of a space's main content has the id of the space. The branch of a change request
-- has the request's id, and only the pages that differ from its base revision. A row belongs to the revisions from
-- `since` until before `until`; only `until` ever changes, once. Titles and other attributes are in the row, not in a
-- table of versions by hash: nearly every change of a page changes an attribute, and reading a page is one look-up.
create table branch_pages (
    branch    text collate "C" not null,
    page_id   text collate "C" not null,
    since     integer     not null,
    until     integer     not null default 2147483647,
    -- In a branch with a base: the page is deleted although the base has it.
    deleted   boolean     not null default false,
    parent_id text collate "C" not null default '',
    position  text collate "C" not null default '',
    slug      text collate "C" not null default '',
    page      jsonb       not null default '{}',
    primary key (branch, page_id, until)
);
create index branch_pages_parent on branch_pages (branch, parent_id, slug, until);
-- A search for a site's visitor reads which spaces have pages with conditions. Few spaces have such pages.
create index branch_pages_conditions on branch_pages (branch)
    where page -> 'condition' is not null and until = 2147483647;

-- The pages that each revision changed.
create table revision_changes (
    branch  text collate "C" not null,
    seq     integer     not null,
    page_id text collate "C" not null,
    primary key (branch, seq, page_id)
);

-- The files of branches. A file that its repository no longer has, and that no page names, belongs to the revisions
-- before `until`.
create table branch_files (
    branch       text collate "C" not null,
    file_id      text collate "C" not null,
    since        integer     not null,
    name         text        not null,
    content_type text        not null,
    size         bigint      not null,
    hash         text collate "C" not null,
    until        integer     not null default 2147483647,
    primary key (branch, file_id)
);
create index branch_files_hash on branch_files (hash);

-- The documents of pages. The hash is the hash of the bytes. Documents and files belong to a space: a hash reveals
-- nothing about the content of another space.
create table documents (
    space_id   text collate "C" not null,
    hash       text collate "C" not null,
    content    bytea       not null,
    created_at timestamptz not null default now(),
    primary key (space_id, hash)
);

-- The OpenAPI specifications that a document names. Readers of a site may read the specifications that its pages show.
create table document_specs (
    space_id text collate "C" not null,
    hash     text collate "C" not null,
    slug     text collate "C" not null,
    primary key (space_id, hash, slug),
    foreign key (space_id, hash) references documents (space_id, hash) on delete cascade
);
create index document_specs_slug on document_specs (slug, space_id);

-- The bytes of files, by their hash.
create table files (
    space_id   text collate "C" not null,
    hash       text collate "C" not null,
    content    bytea       not null,
    created_at timestamptz not null default now(),
    primary key (space_id, hash)
);

-- === Change requests and comments

-- A change request: a branch of a space's content, to be reviewed and merged.
create table change_requests (
    id                       text collate "C" primary key,
    space_id                 text collate "C" not null references spaces (id) on delete cascade,
    organization_id          text collate "C" not null references organizations (id) on delete cascade,
    -- Counts within the space. Numbers may have gaps.
    number                   integer     not null,
    status                   text        not null check (status in ('draft', 'open', 'archived', 'merged')),
    subject                  text        not null default '',
    description              jsonb,
    created_by               text collate "C" not null references users (id),
    revision                 text        not null,
    revision_initial         text        not null,
    revision_merged_ancestor text,
    revision_merged          text,
    -- The issues cluster that the request answers.
    cluster_id               text collate "C",
    open_comments            bigint      not null default 0,
    created_at               timestamptz not null default now(),
    updated_at               timestamptz not null default now(),
    resolved_comments        bigint      not null default 0,
    unique (space_id, number)
);
create index change_requests_space_updated on change_requests (space_id, updated_at desc, id desc);
create index change_requests_space_created on change_requests (space_id, created_at desc, id desc);
create index change_requests_organization_updated on change_requests (organization_id, updated_at desc, id desc);
create index change_requests_organization_created on change_requests (organization_id, created_at desc, id desc);
create index change_requests_cluster on change_requests (organization_id, cluster_id, id) where cluster_id is not null;

-- The users who created a change request or changed its content.
create table change_request_contributors (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id) on delete cascade,
    primary key (change_request_id, user_id)
);

-- The users with a review request. A request after the review replaces the row.
create table change_request_reviewers (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id) on delete cascade,
    -- The content at the time of the request.
    revision          text        not null,
    requested_by      text collate "C" not null references users (id),
    created_at        timestamptz not null default now(),
    primary key (change_request_id, user_id)
);
create index change_request_reviewers_user on change_request_reviewers (user_id, change_request_id);

create table change_request_reviews (
    id                text collate "C" primary key,
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id),
    revision          text        not null,
    -- The user who requested the review; null for a review without a request.
    requested_by      text collate "C" references users (id),
    status            text        not null check (status in ('changes-requested', 'approved')),
    -- Whether the same user reviewed again or got another review request.
    superseded        boolean     not null default false,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
);
create index change_request_reviews_request on change_request_reviews (change_request_id, id);
-- A user has at most one review that is not superseded.
create unique index change_request_reviews_newest on change_request_reviews (change_request_id, user_id)
    where not superseded;

-- Templates for change requests of a space.
create table change_request_templates (
    id          text collate "C" primary key,
    space_id    text collate "C" not null references spaces (id) on delete cascade,
    title       text        not null,
    description jsonb,
    -- The pages that a request from this template adds: JSON as text, because jsonb would change numbers in documents.
    pages       text        not null,
    created_at  timestamptz not null default now()
);
create unique index change_request_templates_space on change_request_templates (space_id, id);

-- How users resolved conflicts between a change request and the main content. Package merge derives the id of a
-- conflict from the conflicting versions, so a choice never applies to content that its user did not see. An update or
-- a merge deletes the choices that it applied.
create table conflict_choices (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    conflict_id       text collate "C" not null,
    -- As in package merge: ours is the main content, theirs the change request.
    take              text        not null check (take in ('ours', 'theirs', 'value')),
    -- JSON as text: jsonb would change numbers, and has limits of its own.
    value             text,
    user_id           text collate "C" not null references users (id),
    chosen_at         timestamptz not null default now(),
    primary key (change_request_id, conflict_id),
    check ((value is null) = (take <> 'value'))
);

-- Comments and replies. A reply is a comment with a parent.
create table comments (
    id                text collate "C" primary key,
    space_id          text collate "C" not null references spaces (id) on delete cascade,
    change_request_id text collate "C" references change_requests (id) on delete cascade,
    parent_id         text collate "C" references comments (id) on delete cascade,
    -- The list that contains the row: the replies to a comment, or the comments on a change request or a space.
    thread_id         text collate "C" not null
        generated always as (coalesce(parent_id, change_request_id, space_id)) stored,
    author_id         text collate "C" not null references users (id),
    -- As the client sent it: Markdown or a document.
    body              jsonb       not null,
    -- The head of the content when the comment was posted, and the place in it.
    revision          text        not null,
    node_id           text,
    page_id           text,
    table_record      text,
    table_definition  text,
    review_id         text collate "C" references change_request_reviews (id) on delete set null,
    status            text        not null default 'open' check (status in ('open', 'resolved')),
    resolved_at       timestamptz,
    resolved_by       text collate "C" references users (id),
    -- The number of rows with this row as their parent.
    replies           bigint      not null default 0,
    posted_at         timestamptz not null default now(),
    edited_at         timestamptz,
    check ((status = 'resolved') = (resolved_at is not null)),
    check ((status = 'resolved') = (resolved_by is not null)),
    check (parent_id is null or (status = 'open' and replies = 0)),
    check ((table_record is null) = (table_definition is null))
);
create index comments_thread on comments (thread_id, posted_at, id);
-- The indexes of the lists that people read: open comments, and comments on one page.
create index comments_thread_open on comments (thread_id, posted_at, id) where status = 'open';
create index comments_thread_page on comments (thread_id, page_id, posted_at, id) where page_id is not null;
-- For cascades from a change request, a space, a comment or a review.
create index comments_space on comments (space_id);
create index comments_change_request on comments (change_request_id) where change_request_id is not null;
create index comments_parent on comments (parent_id) where parent_id is not null;
create index comments_review on comments (review_id) where review_id is not null;

create table comment_reactions (
    comment_id text collate "C" not null references comments (id) on delete cascade,
    user_id    text collate "C" not null references users (id) on delete cascade,
    emoji      text        not null,
    -- The order of arrival: reactions of one request have the same time.
    position   bigint      generated always as identity,
    reacted_at timestamptz not null default now(),
    primary key (comment_id, user_id, emoji)
);
create index comment_reactions_comment on comment_reactions (comment_id, position);

-- The document of a comment's Markdown, so that the Markdown is parsed once.
create table comment_documents (
    comment_id text collate "C" primary key references comments (id) on delete cascade,
    -- Hash of the body that gave the document. A document of another body is stale.
    body_hash  text        not null,
    document   jsonb       not null
);

-- === Search

-- The state of each space's index. The tables of search have no foreign key to spaces: jobs delete their rows in steps,
-- with the content.
create table search_spaces (
    space_id   text collate "C" primary key,
    -- Every word in the index begins with the number of its space.
    number     bigint      not null generated always as identity unique,
    -- The indexed revision; '' if the index must be written again.
    revision   text collate "C" not null default '',
    -- How the space is indexed: the version of the words, and the dictionary of the space's language.
    dictionary text collate "C" not null,
    -- The revision that a job is indexing, or '', and the last page that the job has finished.
    target     text collate "C" not null default '',
    reached    text collate "C" not null default ''
);

-- The pages that searches find. Words are stored out of line: counting matches must not read them.
create table search_pages (
    space_id    text collate "C" not null,
    page_id     text collate "C" not null,
    title       text        not null,
    path        text        not null,
    -- With the title and the document, the source of the words. A page whose source is unchanged is not written again.
    description text        not null,
    document    text collate "C" not null,
    -- The words of the title and the headings, to find the best pages first.
    top         tsvector    not null,
    words       tsvector    not null,
    primary key (space_id, page_id)
) with (toast_tuple_target = 256);
-- The index has no pending list, because every search would read it. Only jobs write to the index, and jobs can wait.
create index search_pages_words on search_pages using gin (words) with (fastupdate = off);
create index search_pages_top on search_pages using gin (top) with (fastupdate = off);
alter table search_pages
    alter column title set storage main,
    alter column path set storage main,
    alter column description set storage main;
-- Postgres must not estimate how many pages match a search. If it expects most pages to match, it reads the whole table
-- with the words of every page. That takes ten times as long as the index. Without statistics it expects few matches.
alter table search_pages alter column words set statistics 0, alter column top set statistics 0;

-- The vocabulary of each space, for misspelled words: how many pages have the word, and the keys that it shares with
-- words that differ in one letter. Only `pages` ever changes, in place.
create table search_words (
    number bigint      not null,
    word   text collate "C" not null,
    pages  integer     not null,
    near   text[]      not null,
    primary key (number, word)
) with (fillfactor = 80);
create index search_words_near on search_words using gin (near) with (fastupdate = off);

-- === Git

-- Imports and exports in the order in which they run: by `timestamp`, then by id. An operation is skipped if a later
-- one has finished before it.
create table git_operations (
    id          text collate "C" primary key,
    space_id    text collate "C" not null references spaces (id) on delete cascade,
    kind        text        not null check (kind in ('import', 'export')),
    state       text        not null check (state in ('queued', 'running', 'done', 'failed', 'skipped')),
    reason      text        not null,
    -- Without user and password, which are sealed in credentials with the installation's key.
    url         text        not null,
    credentials bytea,
    ref         text        not null,
    parameters  jsonb       not null,
    provider    text        check (provider in ('github', 'gitlab')),
    repo_url    text,
    "timestamp" timestamptz not null,
    created_by  text collate "C" references users (id) on delete set null,
    created_at  timestamptz not null default now(),
    -- The commit that a finished operation imported or pushed, and the revision that it created or exported.
    commit_hash text,
    revision    text collate "C",
    -- What the operation left out or changed: a list of {path, text}.
    notes       jsonb,
    finished_at timestamptz
);
create index git_operations_space on git_operations (space_id, "timestamp" desc, id desc);
-- The operations that describe the space's repository.
create index git_operations_described on git_operations (space_id, "timestamp" desc, id desc)
    where provider is not null or repo_url is not null;
-- The job that deletes credentials reads this index. Few operations have credentials.
create index git_operations_credentials on git_operations (finished_at)
    where credentials is not null and finished_at is not null;
-- The table has many finished operations and few unfinished operations.
create index git_operations_open on git_operations (id) where state in ('queued', 'running');

-- The last synchronization of a space with a branch of a repository. Its id also names the branch (see branch_pages)
-- with the states of Git that never were the main content.
create table git_syncs (
    id          text collate "C" primary key,
    space_id    text collate "C" not null references spaces (id) on delete cascade,
    -- A hash of the address, the ref and the project directory, which are too long for an index.
    remote      text collate "C" not null,
    commit_hash text        not null,
    -- The revision with the pages as in the commit.
    revision    text collate "C" not null,
    synced_at   timestamptz not null default now(),
    unique (space_id, remote)
);

-- The files of the commit that gave the pages, the table of contents and the files of the space. An entry of the table
-- of contents without a file has a path that begins with two slashes, and an empty blob.
create table git_sync_files (
    sync_id text collate "C" not null references git_syncs (id) on delete cascade,
    path    text collate "C" not null,
    blob    text        not null,
    page_id text collate "C" not null,
    file_id text collate "C" not null,
    primary key (sync_id, path)
);

-- The redirects of the repository that was imported last: paths without surrounding slashes, and their pages. They
-- belong to the space, not to a revision, as their pages do.
create table git_redirects (
    space_id text collate "C" not null references spaces (id) on delete cascade,
    source   text collate "C" not null,
    page_id  text collate "C" not null,
    primary key (space_id, source)
);

-- === PDFs

-- A content's row is written before its first chunk, so that jobs find the chunks of a failed attempt.
create table pdf_contents (
    content  text collate "C" primary key,
    begun_at timestamptz not null default now()
);
create index pdf_contents_begun on pdf_contents (begun_at);

-- The bytes of PDFs. Each attempt writes its own content. A content that no PDF names is a leftover.
create table pdf_chunks (
    content text collate "C" not null,
    number  integer     not null,
    bytes   bytea       not null,
    primary key (content, number),
    foreign key (content) references pdf_contents (content) on delete cascade
);
-- The bytes are compressed already.
alter table pdf_chunks alter column bytes set storage external;

-- Requested PDFs. A PDF never changes: its key names the revision, the selection of pages and the renderer.
create table pdfs (
    space_id text collate "C" not null references spaces (id) on delete cascade,
    key      text collate "C" not null,
    revision text collate "C" not null,
    -- The selection: all pages, a page with the pages below it, or a single page.
    page     text collate "C" not null,
    alone    boolean     not null,
    -- The job that renders it.
    job_id   bigint,
    asked_at timestamptz not null default now(),
    -- The content of the chunks, once rendered.
    content  text collate "C",
    size     bigint,
    used_at  timestamptz not null default now(),
    primary key (space_id, key)
);
create index pdfs_used on pdfs (used_at);
create index pdfs_open on pdfs (space_id, asked_at) where content is null;
create index pdfs_content on pdfs (content);

-- === Translations

-- A translation of a space into a language.
create table translations (
    id                  text collate "C" primary key,
    organization_id     text collate "C" not null references organizations (id) on delete cascade,
    source_space_id     text collate "C" not null references spaces (id) on delete cascade,
    source_language     text        not null,
    language            text        not null,
    instructions        jsonb       not null,
    -- How many runs were requested.
    runs                integer     not null default 0,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    -- Totals of the finished runs.
    total_words         bigint      not null default 0,
    total_pages         bigint      not null default 0,
    total_milliseconds  bigint      not null default 0,
    latest_words        bigint      not null default 0,
    latest_pages        bigint      not null default 0,
    latest_milliseconds bigint      not null default 0,
    -- The translated space, and its revision after the last run.
    result_space_id     text collate "C" references spaces (id) on delete set null,
    result_revision     text collate "C",
    -- The revision of the translated space with the pages as the last run wrote them, without edits by people; and the
    -- revision of the source that the run translated.
    made_revision       text collate "C",
    source_revision     text collate "C"
);
create index translations_organization on translations (organization_id, id);
create index translations_space on translations (source_space_id);
create index translations_result on translations (result_space_id) where result_space_id is not null;

create table translation_runs (
    id             text collate "C" primary key,
    translation_id text collate "C" not null references translations (id) on delete cascade,
    state          text        not null check (state in ('queued', 'running', 'done', 'failed')),
    -- Why the run failed.
    reason         text        not null default '',
    requested_at   timestamptz not null default now(),
    started_at     timestamptz,
    finished_at    timestamptz,
    -- Segments and words sent to the provider, over all attempts.
    segments       bigint      not null default 0,
    words          bigint      not null default 0,
    -- The pages of the translated space that the run changed, and the revision after it.
    pages          bigint      not null default 0,
    revision       text collate "C",
    -- Reports for people, of which the list may have only the first, and their number.
    reports        jsonb       not null default '[]',
    report_count   bigint      not null default 0
);
create index translation_runs_translation on translation_runs (translation_id, id);
-- One queued run serves all requests until it starts.
create unique index translation_runs_queued on translation_runs (translation_id) where state = 'queued';
create index translation_runs_open on translation_runs (translation_id) where state in ('queued', 'running');

-- Translations by the key of their segment. The key covers everything that a translation depends on, so nothing is
-- translated twice.
create table translation_segments (
    translation_id text collate "C" not null references translations (id) on delete cascade,
    key            text collate "C" not null,
    target         text        not null,
    problem        text        not null default '',
    used_at        timestamptz not null default now(),
    primary key (translation_id, key)
);

-- Segments that people corrected: hashes of the corrected text, and of the source at that time.
create table translation_corrections (
    translation_id text collate "C" not null references translations (id) on delete cascade,
    page_id        text collate "C" not null,
    segment        text collate "C" not null,
    target         text        not null,
    source         text        not null,
    primary key (translation_id, page_id, segment)
);

create table glossary_entries (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    translations    jsonb       not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create index glossary_entries_organization on glossary_entries (organization_id, id);

-- === OpenAPI specifications

-- An OpenAPI specification. Jobs fetch specifications with a URL again and again.
create table openapi_specs (
    id                text collate "C" primary key,
    organization_id   text collate "C" not null references organizations (id) on delete cascade,
    slug              text collate "C" not null,
    -- Null if the specification was sent as text.
    source_url        text,
    processing_state  text        not null check (processing_state in ('pending', 'progress', 'complete')),
    -- The number of the newest version; 0 if there is none.
    versions          integer     not null default 0,
    last_version      text collate "C",
    last_processed_at timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    -- Counts the changes of the source, so that a job never stores a document under another source.
    source_number     integer     not null default 0,
    -- When to fetch the specification, or to request a job again; null if it was sent as text.
    fetch_at          timestamptz,
    -- Whether a job was requested, and how often one has begun to fetch since.
    fetch_wanted      boolean     not null default false,
    fetch_runs        integer     not null default 0,
    -- Consecutive failures.
    fetch_failures    integer     not null default 0,
    -- The documents at the last fetch: schema.OpenAPISourceState.
    fetched           jsonb       not null default '[]',
    -- The errors of the last fetch: schema.OpenAPISpecError.
    error_code        text        not null default ''
        check (error_code in ('', 'FETCH_TIMEOUT', 'FETCH_ERROR', 'PARSE_ERROR')),
    errors            jsonb       not null default '[]',
    -- Who may read the newest version: the organization, or everybody at its public address.
    visibility        text        not null default 'private' check (visibility in ('private', 'public')),
    unique (organization_id, slug)
);
create index openapi_specs_organization on openapi_specs (organization_id, id);
create index openapi_specs_due on openapi_specs (fetch_at) where source_url is not null;
create index openapi_specs_wanted on openapi_specs (organization_id, fetch_runs, id) where fetch_wanted;

create table openapi_spec_versions (
    id         text collate "C" primary key,
    spec_id    text collate "C" not null references openapi_specs (id) on delete cascade,
    number     integer     not null,
    -- Where the version was fetched from; null if it was sent as text.
    source_url text,
    -- SHA-256 of the text as it was sent.
    hash       bytea       not null,
    -- The document as JSON. Not jsonb, which cannot hold every JSON text and would reorder members.
    document   bytea       not null,
    created_at timestamptz not null default now(),
    unique (spec_id, number)
);

-- === Conversations

-- A conversation of an organization's users, for example a support ticket.
create table conversations (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    source          text        not null,
    -- The id that the client gave.
    source_id       text        not null,
    subject         text,
    url             text,
    -- The highest impact of its issues; null without issues.
    impact          text        check (impact in ('low', 'medium', 'high')),
    -- Counts replacements, so that the analysis of an older version cannot mark a newer one as processed.
    version         integer     not null default 1,
    created_at      timestamptz not null,
    ingested_at     timestamptz not null,
    -- Null until the clusters include this version.
    processed_at    timestamptz,
    unique (organization_id, source, source_id)
);
create index conversations_organization on conversations (organization_id, id);
create index conversations_source on conversations (organization_id, source, id);
create index conversations_unprocessed on conversations (organization_id, id) where processed_at is null;

-- The long part of a conversation, which lists do not read.
create table conversation_contents (
    conversation_id text collate "C" primary key references conversations (id) on delete cascade,
    parts           jsonb       not null,
    metadata        jsonb       not null
);

-- A group of issues about the same problem. Clusters persist from one analysis to the next.
create table issues_clusters (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    label           text        not null,
    icon            text        not null,
    impact          text        not null check (impact in ('low', 'medium', 'high')),
    muted           boolean     not null default false,
    summary         jsonb       not null,
    sources         jsonb       not null,
    issues          integer     not null,
    conversations   integer     not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    language        text        not null default '',
    -- What its issues are about, for the next analysis; null before the first.
    profile         jsonb,
    -- The topic that it shares with clusters of other problems, or null.
    theme           text,
    -- Whether issues left the cluster after its numbers were counted.
    stale           boolean     not null default true,
    -- The language model's text about the cluster, the number of issues at that time, and whether the model wrote the
    -- label.
    overview        text        not null default '',
    overview_issues integer     not null default 0,
    titled          boolean     not null default false
);
create index issues_clusters_organization on issues_clusters (organization_id, id);
create index issues_clusters_updated on issues_clusters (organization_id, updated_at, id);
create index issues_clusters_issues on issues_clusters (organization_id, issues, id);
create index issues_clusters_conversations on issues_clusters (organization_id, conversations, id);
create index issues_clusters_stale on issues_clusters (organization_id) where stale;

create table conversation_issues (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    conversation_id text collate "C" not null references conversations (id) on delete cascade,
    position        integer     not null,
    title           text        not null,
    details         jsonb       not null,
    summary         text        not null,
    impact          text        not null check (impact in ('low', 'medium', 'high')),
    -- What the issue is about, for the next analysis.
    words           text[]      not null,
    cluster_id      text collate "C" references issues_clusters (id) on delete set null,
    created_at      timestamptz not null,
    ingested_at     timestamptz not null,
    language        text        not null default '',
    -- Equal for issues with the same words.
    fingerprint     text        not null default '',
    -- The meaning of the issue: a vector of signed bytes. Null until an analysis with a model has computed it.
    meaning         bytea,
    unique (conversation_id, position)
);
create index conversation_issues_organization on conversation_issues (organization_id, id);
create index conversation_issues_newest on conversation_issues (organization_id, created_at, id);
create index conversation_issues_cluster on conversation_issues (cluster_id, id);
create index conversation_issues_pulse on conversation_issues (cluster_id, created_at);
create index conversation_issues_fingerprint on conversation_issues (organization_id, fingerprint, id);

-- Why an issue is in its cluster, and how the cluster got its label. Rows are only added.
create table issues_cluster_events (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    cluster_id      text collate "C" not null references issues_clusters (id) on delete cascade,
    kind            text        not null check (kind in ('joined', 'left', 'merged', 'renamed')),
    -- For joined and left. The issue may be deleted.
    issue_id        text collate "C",
    conversation_id text collate "C",
    -- The issue's title, the label of the merged cluster, or the former label.
    title           text        not null,
    reason          text        not null,
    created_at      timestamptz not null
);
create index issues_cluster_events_cluster on issues_cluster_events (cluster_id, id);
create index issues_cluster_events_organization on issues_cluster_events (organization_id);

-- === Integrations

-- An integration. Its name permanently belongs to the organization that published it first.
create table integrations (
    name                text collate "C" primary key,
    organization_id     text collate "C" not null references organizations (id) on delete cascade,
    -- Counts publications.
    version             integer     not null default 1,
    visibility          text        not null check (visibility in ('public', 'private', 'unlisted')),
    target              text        not null check (target in ('all', 'site', 'space', 'organization')),
    verified            boolean     not null default false,
    manifest            jsonb       not null,
    script              text        not null,
    -- Sealed with the installation's key. No request returns them.
    secrets             bytea,
    -- Members of the manifest by which lists filter.
    title               text        not null,
    scopes              text[]      not null,
    categories          text[]      not null,
    block_domains       text[]      not null,
    has_blocks          boolean     not null,
    has_content_sources boolean     not null,
    icon                text,
    preview_images      text[]      not null default '{}',
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    -- In development mode, events go to this address: events of the owner's organization, or of all.
    dev_tunnel          text,
    dev_all             boolean     not null default false
);
-- Lists show public integrations, and all integrations of the caller's organization.
create index integrations_public on integrations (name) where visibility = 'public';
create index integrations_organization on integrations (organization_id, name);

-- The published versions of an integration, with the hash of each script.
create table integration_versions (
    integration  text collate "C" not null references integrations (name) on delete cascade,
    version      integer     not null,
    title        text        not null,
    runtime      text        not null,
    scopes       text[]      not null,
    -- SHA-256 and size of the script.
    script_hash  bytea       not null,
    script_bytes integer     not null,
    published_by text collate "C" references users (id) on delete set null,
    created_at   timestamptz not null default now(),
    primary key (integration, version)
);
create index integration_versions_publisher on integration_versions (published_by);

-- The scripts of former versions. The newest script is in integrations.script.
create table integration_scripts (
    integration text collate "C" not null,
    version     integer     not null,
    script      text        not null,
    primary key (integration, version),
    foreign key (integration, version) references integration_versions (integration, version) on delete cascade
);

-- The pictures of an integration's newest version. Their ids derive from their bytes, so addresses can be cached.
create table integration_assets (
    integration  text collate "C" not null references integrations (name) on delete cascade,
    id           text collate "C" not null,
    content_type text        not null,
    content      bytea       not null,
    primary key (integration, id)
);

create table integration_installations (
    id              text collate "C" primary key,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    -- The scopes that the organization granted. A later version of the integration cannot widen them.
    scopes          text[]      not null default '{}',
    configuration   jsonb       not null default '{}',
    external_ids    text[]      not null default '{}',
    paused          boolean     not null default false,
    space_selection text        not null default 'all' check (space_selection in ('all', 'selected')),
    site_selection  text        not null default 'all' check (site_selection in ('all', 'selected')),
    -- The user in whose name its tokens write. The user is in no organization and has no e-mail address. A user who
    -- wrote content is never deleted.
    user_id         text collate "C" not null references users (id),
    unique (integration, organization_id)
);
create index integration_installations_user on integration_installations (user_id);
create index integration_installations_organization on integration_installations (organization_id, id);
create index integration_installations_integration on integration_installations (integration, id);

-- The spaces and sites of an installation, with their own configuration. If the selection is `all`, the installation
-- also applies to all other spaces or sites.
create table integration_content_installations (
    installation_id text collate "C" not null references integration_installations (id) on delete cascade,
    space_id        text collate "C" references spaces (id) on delete cascade,
    site_id         text collate "C" references sites (id) on delete cascade,
    configuration   jsonb       not null default '{}',
    external_ids    text[]      not null default '{}',
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (num_nonnulls(space_id, site_id) = 1),
    unique (installation_id, space_id),
    unique (installation_id, site_id)
);
create index integration_content_installations_space on integration_content_installations (space_id);
create index integration_content_installations_site on integration_content_installations (site_id);

-- Short-lived tokens of an integration, or of one of its installations.
create table integration_tokens (
    id              text collate "C" primary key,
    -- SHA-256 of the token.
    hash            bytea       not null unique,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    installation_id text collate "C" references integration_installations (id) on delete cascade,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null
);
create index integration_tokens_integration on integration_tokens (integration, installation_id, id);
create index integration_tokens_installation on integration_tokens (installation_id);

-- Events of an integration's installations, including deleted installations.
create table integration_events (
    id              text collate "C" primary key,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    installation_id text collate "C" not null,
    payload         jsonb       not null,
    -- Null while the tunnel has not received the event.
    status          text        check (status in ('success', 'failed')),
    logs            jsonb       not null default '[]',
    created_at      timestamptz not null default now()
);
create index integration_events_integration on integration_events (integration, id);

-- === Events

-- Idempotency keys of event posts, for a day each. The table has no foreign key to sites: a key outlives its site by a
-- day at most, and posting must not lock the site's row.
create table event_keys (
    site_id       text collate "C" not null,
    key           text collate "C" not null,
    -- SHA-256 of the body without its Content-Encoding.
    body_hash     bytea       not null,
    -- The log message of the request, the same for every attempt.
    message_id    bytea       not null,
    log_partition integer     not null,
    -- The message's offset in the partition is this offset or later.
    log_offset    bigint      not null,
    done          boolean     not null default false,
    -- The last attempt may append until leased_until. The number identifies the attempt.
    attempt       integer     not null default 1,
    leased_until  timestamptz not null,
    created_at    timestamptz not null default now(),
    primary key (site_id, key)
);
create index event_keys_created on event_keys (created_at);

-- Visitors that are erased from the insights. The table has no foreign key to sites: an erasure outlives its site.
create table erasures (
    site_id      text collate "C" not null,
    -- The keyed hash, as in the insights store.
    visitor      bigint      not null,
    asked_at     timestamptz not null default now(),
    -- When the log and the dead letters have expired; null: never.
    log_until    timestamptz,
    -- Version of its last tombstone; null before the erasure begins or begins again.
    version      bigint,
    erased_until timestamptz,
    attempts     integer     not null default 0,
    -- When the rows had left all active parts of the events table, by the insights store's clock.
    mutated_at   timestamptz,
    done_at      timestamptz,
    primary key (site_id, visitor)
);
create index erasures_pending on erasures (asked_at) where done_at is null;
create index erasures_pending_site on erasures (site_id) where done_at is null;
-- The table has finished erasures of months. Queries that run every second, or for one site, do not read them.
create index erasures_done on erasures (log_until) where done_at is not null;

-- Append-only: a sink that repeats the insert of another sink needs the other sink's tombstones.
create table tombstones (
    version bigint      not null,
    site_id text collate "C" not null,
    visitor bigint      not null,
    before  timestamptz not null,
    primary key (version, site_id, visitor)
);
create index tombstones_visitor on tombstones (site_id, visitor);

-- This table has one row. A transaction that adds tombstones locks the row, so versions become visible in order.
create table tombstone_version (
    version bigint      not null
);
insert into tombstone_version values (1);

-- How long a site keeps events.
create table retentions (
    site_id     text collate "C" primary key,
    days        integer     check (days between 1 and 3650),
    -- The time up to which the current days were last applied, or null.
    carried_out timestamptz
);

-- The events that were deleted because of their age. A later row with a later time replaces the rows that it covers. So
-- a site has several rows only after its retention grew.
create table expiries (
    site_id     text collate "C" not null,
    -- Events of an earlier time were deleted, if they were received before carried_out.
    before      timestamptz not null,
    carried_out timestamptz not null,
    primary key (site_id, before)
);

-- === Front ends

-- Changes after which front ends must read again. A job deletes the rows after it notifies the front ends, or after a
-- week.
create table front_end_changes (
    id              bigint      generated always as identity primary key,
    -- No foreign key: organizations are deleted together with what changes.
    organization_id text collate "C" not null,
    -- The name that front ends use: site:<id>, space:<id>, space:<id>:change-request:<id>,
    -- organization:<id>:openapi:<slug>.
    tag             text collate "C" not null,
    at              timestamptz not null default clock_timestamp(),
    -- Whether a job was requested.
    asked           boolean     not null default false,
    -- A transaction that changes a site in a hundred places writes one row, and never waits for another transaction's
    -- row.
    made_in         bigint      not null default pg_current_xact_id()::text::bigint,
    unique (organization_id, tag, made_in)
);
create index front_end_changes_new on front_end_changes (at) where not asked;
create index front_end_changes_asked on front_end_changes (organization_id, id) where asked;
create index front_end_changes_at on front_end_changes (at);

-- === Webhooks

-- An address of an organization to which the service sends events.
create table webhooks (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    url             text        not null,
    description     text        not null default '',
    -- The types of events to send; all if empty.
    events          text[]      not null default '{}',
    active          boolean     not null default true,
    -- Both secrets are sealed. Until former_until, deliveries are signed with the former secret, too.
    secret          bytea       not null,
    former_secret   bytea,
    former_until    timestamptz,
    -- Failures since the last success, and since when. Nothing is sent before held_until.
    failures        integer     not null default 0,
    failing_since   timestamptz,
    held_until      timestamptz,
    -- When to request a job; null if no delivery needs another job.
    due_at          timestamptz,
    -- When and why the service disabled the webhook.
    disabled_at     timestamptz,
    disabled_reason text,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (disabled_at is null or not active)
);
create index webhooks_organization on webhooks (organization_id, id);
create index webhooks_active on webhooks (organization_id) where active;
create index webhooks_due on webhooks (due_at) where active and due_at is not null;

-- An event, stored once for all webhooks that receive it.
create table webhook_events (
    id              text collate "C" primary key,
    -- No foreign key: jobs delete the rows of deleted organizations in steps.
    organization_id text collate "C" not null,
    type            text collate "C" not null,
    -- The id of the object.
    subject         text collate "C" not null,
    -- The user who caused the event, if known.
    actor           text collate "C",
    -- The payload's member data, without addresses.
    data            jsonb       not null,
    created_at      timestamptz not null default clock_timestamp(),
    -- A transaction that changes an object in several steps writes one event, with the last state.
    made_in         bigint      not null default pg_current_xact_id()::text::bigint,
    unique (organization_id, type, subject, made_in)
);
create index webhook_events_at on webhook_events (created_at);

-- Deliveries, pending and finished. Ids are in the order of the events. Deliveries go with their events; there is no
-- foreign key to webhooks, so that deleting a webhook with many deliveries is quick.
create table webhook_deliveries (
    id              text collate "C" primary key,
    webhook_id      text collate "C" not null,
    event_id        text collate "C" not null references webhook_events (id) on delete cascade,
    -- The delivery that a user asked to repeat.
    redelivers      text collate "C",
    -- A user waits for the delivery, so it goes first.
    by_hand         boolean     not null default false,
    state           text        not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts        integer     not null default 0,
    -- The earliest time of the next attempt.
    next_attempt_at timestamptz default clock_timestamp(),
    -- The last attempt and its result.
    attempted_at    timestamptz,
    status_code     integer,
    duration_ms     integer,
    reason          text,
    response        text,
    settled_at      timestamptz,
    -- Whether a job was requested.
    asked           boolean     not null default false,
    created_at      timestamptz not null default clock_timestamp(),
    check ((state = 'pending') = (settled_at is null)),
    check (state <> 'pending' or next_attempt_at is not null)
);
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, by_hand desc, id) where state = 'pending';
create index webhook_deliveries_new on webhook_deliveries (id) where not asked;
create index webhook_deliveries_event on webhook_deliveries (event_id);

-- === Audit log

-- One row for each object that a committed change created, changed or deleted. Triggers write it in the transaction of
-- the change; store/audit_tables.go says for each table what the log shows.
create table audit_log (
    id              bigint      generated always as identity primary key,
    at              timestamptz not null default clock_timestamp(),
    -- Null if the change belongs to the installation. No foreign key: writing an entry must not lock the organization,
    -- and PurgeOrganizations deletes entries in steps.
    organization_id text collate "C",
    site_id         text collate "C",
    space_id        text collate "C",
    action          text        not null check (action in ('create', 'update', 'delete')),
    object_type     text collate "C" not null,
    -- Null in an entry that summarises the other changes of a statement with very many changes.
    object_id       text collate "C",
    -- How many changes the summarising entry counts.
    further         bigint,
    before          jsonb,
    after           jsonb,
    operation       text collate "C",
    actor_type      text collate "C" not null,
    actor_id        text collate "C",
    actor_name      text,
    token_id        text collate "C",
    token_kind      text,
    request_id      text,
    address         text
);
create index audit_log_organization on audit_log (organization_id, at, id);
create index audit_log_object on audit_log (organization_id, object_id, at, id);
create index audit_log_actor on audit_log (organization_id, actor_id, at, id);
create index audit_log_operation on audit_log (organization_id, operation, at, id);
-- Entries are written in the order of their times, so a summary of each range of blocks finds old entries.
create index audit_log_at on audit_log using brin (at);

-- === Jobs: river creates the table before this migration runs

create index jobs_organization on river_job ((metadata ->> 'organization'), id);
-- The table has many finished jobs and few unfinished jobs.
create index jobs_sequence on river_job ((metadata ->> 'sequence'), id)
    where state in ('available', 'pending', 'retryable', 'running', 'scheduled');
create index jobs_failed on river_job (id) where state in ('cancelled', 'discarded');
