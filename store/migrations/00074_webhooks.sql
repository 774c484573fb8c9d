-- Webhooks: addresses of an organization that hear of what happens in it. Triggers note events in the transaction of the change,
-- and only if a webhook of the organization wants them; a job delivers them.

-- +goose Up
create table webhooks (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    url             text        not null,
    description     text        not null default '',
    -- The types of events that it hears of; all if there are none.
    events          text[]      not null default '{}',
    active          boolean     not null default true,
    -- Both are sealed. What is sent is signed with the former secret, too, until it ends.
    secret          bytea       not null,
    former_secret   bytea,
    former_until    timestamptz,
    -- Failures since the last success, and since when. Nothing is sent before held_until.
    failures        integer     not null default 0,
    failing_since   timestamptz,
    held_until      timestamptz,
    -- When a job is to be asked for; null if nothing waits that some job will not see.
    due_at          timestamptz,
    -- When and why we made it inactive.
    disabled_at     timestamptz,
    disabled_reason text,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (disabled_at is null or not active)
);
create index webhooks_organization on webhooks (organization_id, id);
create index webhooks_active on webhooks (organization_id) where active;
create index webhooks_due on webhooks (due_at) where active and due_at is not null;

-- What happened, once for all webhooks that hear of it.
create table webhook_events (
    id              text collate "C" primary key,
    -- There is no foreign key: what organizations leave behind is deleted in parts.
    organization_id text collate "C" not null,
    type            text collate "C" not null,
    -- The id of what it is about.
    subject         text collate "C" not null,
    -- The user who did it, if that is known.
    actor           text collate "C",
    -- The payload's member data, without the addresses.
    data            jsonb       not null,
    created_at      timestamptz not null default clock_timestamp(),
    -- A transaction that changes a thing in several steps makes one event, with the last state.
    made_in         bigint      not null default pg_current_xact_id()::text::bigint,
    unique (organization_id, type, subject, made_in)
);
create index webhook_events_at on webhook_events (created_at);

-- What is to be sent, or was. Ids are in the order of what happened. Deliveries go with their events; there is no foreign key to
-- webhooks, so that one with many deliveries is deleted at once.
create table webhook_deliveries (
    id              text collate "C" primary key,
    webhook_id      text collate "C" not null,
    event_id        text collate "C" not null references webhook_events (id) on delete cascade,
    -- The delivery that somebody wanted again.
    redelivers      text collate "C",
    -- Somebody waits for it, so it goes before the others.
    by_hand         boolean     not null default false,
    state           text        not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts        integer     not null default 0,
    -- When it is sent at the earliest.
    next_attempt_at timestamptz default clock_timestamp(),
    -- Of the last attempt.
    attempted_at    timestamptz,
    status_code     integer,
    duration_ms     integer,
    reason          text,
    response        text,
    settled_at      timestamptz,
    -- Whether a job was asked for.
    asked           boolean     not null default false,
    created_at      timestamptz not null default clock_timestamp(),
    check ((state = 'pending') = (settled_at is null)),
    check (state <> 'pending' or next_attempt_at is not null)
);
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, by_hand desc, id) where state = 'pending';
create index webhook_deliveries_new on webhook_deliveries (id) where not asked;
create index webhook_deliveries_event on webhook_deliveries (event_id);

-- Like our other ids, these sort by time: microseconds, and 48 random bits.
-- +goose StatementBegin
create function webhook_id() returns text language sql volatile as $$
    select lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::bigint), 14, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function webhooks_want(of_organization text, variadic of_types text[]) returns boolean language sql stable as $$
    select exists (
        select from webhooks w
        where w.organization_id = of_organization and w.active and (cardinality(w.events) = 0 or w.events && of_types)
    )
$$;
-- +goose StatementEnd

-- Notes an event. A thing that was made in the same transaction was not changed: its first event takes the new state, also if nobody
-- wants to hear of changes. If the change does not say who made it, the transaction may: octavo.actor is whom it works for, as JSON.
-- +goose StatementBegin
create function webhook_event(of_organization text, of_type text, of_subject text, by_user text, with_data jsonb) returns void
language plpgsql as $$
declare
    event text;
    again boolean;
    said jsonb := nullif(current_setting('octavo.actor', true), '')::jsonb;
begin
    if by_user is null and said ->> 'type' = 'user' then
        by_user := said ->> 'id';
    end if;
    if of_type like '%.updated' then
        update webhook_events e set data = with_data
        where e.organization_id = of_organization and e.type = regexp_replace(of_type, 'updated$', 'created')
          and e.subject = of_subject and e.made_in = pg_current_xact_id()::text::bigint;
        if found then
            return;
        end if;
    end if;
    if not webhooks_want(of_organization, of_type) then
        return;
    end if;
    insert into webhook_events as e (id, organization_id, type, subject, actor, data)
    values (webhook_id(), of_organization, of_type, of_subject, by_user, with_data)
    on conflict (organization_id, type, subject, made_in) do update
        set data = excluded.data, actor = coalesce(excluded.actor, e.actor)
    returning e.id, e.xmax <> 0 into event, again;
    if not again then
        insert into webhook_deliveries (id, webhook_id, event_id)
        select webhook_id(), w.id, event
        from webhooks w
        where w.organization_id = of_organization and w.active and (cardinality(w.events) = 0 or of_type = any(w.events));
    end if;
end
$$;
-- +goose StatementEnd

-- A comment, or a reply. Those that go together with their space, change request or comment need no word.
-- +goose StatementBegin
create function webhooks_hear_comment() returns trigger language plpgsql as $$
declare
    r comments := coalesce(new, old);
    organization text;
    what text;
    by_user text;
begin
    select s.organization_id into organization from spaces s where s.id = r.space_id;
    if organization is null then
        return null;
    end if;
    if tg_op = 'INSERT' then
        what := 'created';
        by_user := new.author_id;
    elsif tg_op = 'DELETE' then
        if r.parent_id is not null and not exists (select from comments c where c.id = r.parent_id)
            or r.change_request_id is not null and not exists (select from change_requests c where c.id = r.change_request_id) then
            return null;
        end if;
        what := 'deleted';
    elsif new.status = old.status then
        what := 'updated';
    elsif new.status = 'resolved' then
        what := 'resolved';
        by_user := new.resolved_by;
    else
        what := 'reopened';
    end if;
    what := case when r.parent_id is null then 'comment.' else 'comment.reply.' end || what;
    if webhooks_want(organization, what, replace(what, '.updated', '.created')) then
        perform webhook_event(organization, what, r.id, by_user, jsonb_strip_nulls(jsonb_build_object(
            'object', case when r.parent_id is null then 'comment' else 'comment-reply' end, 'id', r.id, 'space', r.space_id,
            'changeRequest', r.change_request_id, 'comment', r.parent_id, 'page', r.page_id, 'postedBy', r.author_id,
            'status', case when r.parent_id is null then r.status end)));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function webhooks_hear_change_request() returns trigger language plpgsql as $$
declare
    what text := 'change_request.updated';
    by_user text;
begin
    if tg_op = 'INSERT' then
        what := 'change_request.created';
    elsif new.status = 'merged' and old.status <> 'merged' then
        what := 'change_request.merged';
    end if;
    if webhooks_want(new.organization_id, what, replace(what, '.updated', '.created')) then
        if tg_op = 'INSERT' then
            by_user := new.created_by;
        elsif new.status = 'merged' then
            select r.created_by into by_user from revisions r where r.id = new.revision_merged;
        elsif new.revision <> old.revision then
            select r.created_by into by_user from revisions r where r.id = new.revision;
        end if;
        perform webhook_event(new.organization_id, what, new.id, by_user, jsonb_strip_nulls(jsonb_build_object(
            'object', 'change-request', 'id', new.id, 'space', new.space_id, 'number', new.number, 'status', new.status,
            'createdBy', new.created_by, 'revision', new.revision, 'revisionMerged', new.revision_merged)));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- The main content of a space has a new revision: edits, a merge, an import.
-- +goose StatementBegin
create function webhooks_hear_content() returns trigger language plpgsql as $$
begin
    if webhooks_want(new.organization_id, 'space.content_updated') then
        perform webhook_event(new.organization_id, 'space.content_updated', new.id, r.created_by, jsonb_strip_nulls(jsonb_build_object(
            'object', 'space', 'id', new.id, 'revision', new.revision, 'previousRevision', old.revision, 'revisionType', r.type,
            'changeRequest', r.change_request_id)))
        from (select) one left join revisions r on r.id = new.revision and r.space_id = new.id;
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function webhooks_hear_cluster() returns trigger language plpgsql as $$
declare
    what text := 'cluster.created';
begin
    if tg_op = 'UPDATE' then
        what := case when new.muted = old.muted then 'cluster.updated' when new.muted then 'cluster.muted' else 'cluster.unmuted' end;
    end if;
    if webhooks_want(new.organization_id, what, replace(what, '.updated', '.created')) then
        perform webhook_event(new.organization_id, what, new.id, null, jsonb_build_object(
            'object', 'issues-cluster', 'id', new.id, 'organization', new.organization_id, 'impact', new.impact,
            'muted', new.muted, 'issues', new.issues, 'conversations', new.conversations));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function webhooks_hear_installation() returns trigger language plpgsql as $$
declare
    r integration_installations := coalesce(new, old);
    what text := 'installation.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
begin
    if webhooks_want(r.organization_id, what, replace(what, '.updated', '.created')) then
        perform webhook_event(r.organization_id, what, r.id, null, jsonb_build_object(
            'object', 'installation', 'id', r.id, 'integration', r.integration, 'organization', r.organization_id));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

create trigger webhooks_hear after insert or delete on comments for each row execute function webhooks_hear_comment();
create trigger webhooks_hear_update after update on comments for each row
    when ((old.body, old.status) is distinct from (new.body, new.status))
    execute function webhooks_hear_comment();
create trigger webhooks_hear after insert on change_requests for each row execute function webhooks_hear_change_request();
create trigger webhooks_hear_update after update on change_requests for each row
    when ((old.revision, old.status, old.subject, old.description) is distinct from (new.revision, new.status, new.subject, new.description))
    execute function webhooks_hear_change_request();
create trigger webhooks_hear after update on spaces for each row when (old.revision is distinct from new.revision)
    execute function webhooks_hear_content();
create trigger webhooks_hear after insert on issues_clusters for each row execute function webhooks_hear_cluster();
create trigger webhooks_hear_update after update on issues_clusters for each row
    when ((old.label, old.icon, old.impact, old.muted, old.summary, old.issues, old.conversations)
        is distinct from (new.label, new.icon, new.impact, new.muted, new.summary, new.issues, new.conversations))
    execute function webhooks_hear_cluster();
create trigger webhooks_hear after insert or delete on integration_installations for each row execute function webhooks_hear_installation();
create trigger webhooks_hear_update after update on integration_installations for each row
    when (old.updated_at is distinct from new.updated_at)
    execute function webhooks_hear_installation();

-- +goose Down
drop trigger webhooks_hear_update on integration_installations;
drop trigger webhooks_hear on integration_installations;
drop trigger webhooks_hear_update on issues_clusters;
drop trigger webhooks_hear on issues_clusters;
drop trigger webhooks_hear on spaces;
drop trigger webhooks_hear_update on change_requests;
drop trigger webhooks_hear on change_requests;
drop trigger webhooks_hear_update on comments;
drop trigger webhooks_hear on comments;
drop function webhooks_hear_installation;
drop function webhooks_hear_cluster;
drop function webhooks_hear_content;
drop function webhooks_hear_change_request;
drop function webhooks_hear_comment;
drop function webhook_event;
drop function webhooks_want;
drop function webhook_id;
drop table webhook_deliveries;
drop table webhook_events;
drop table webhooks;
