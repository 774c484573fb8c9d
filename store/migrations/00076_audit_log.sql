-- The audit log: one row for each object that a committed change created, changed or deleted. Triggers write it in the transaction
-- of the change; store/audit_tables.go has a row for each table that says what is shown of it.

-- +goose Up
create table audit_log (
    id              bigint generated always as identity primary key,
    at              timestamptz      not null default clock_timestamp(),
    -- Null if the change belongs to the installation instead of an organization. There is no foreign key: a write of an entry must
    -- not lock the organization, and PurgeOrganizations deletes entries in steps.
    organization_id text collate "C",
    site_id         text collate "C",
    space_id        text collate "C",
    action          text             not null check (action in ('create', 'update', 'delete')),
    object_type     text collate "C" not null,
    -- Null in the entry that stands for the rest of a statement that changed very many objects.
    object_id       text collate "C",
    -- How many changes such an entry stands for.
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
-- Entries are written in the order of their times, so a summary of each range of blocks finds the old ones.
create index audit_log_at on audit_log using brin (at);

-- Whom the transaction works for. store.By says it, in the statement that begins the transaction. Ids come from this service's own
-- tables; the name is the one at this time. An organization does not learn who a person of another one is, nor from where: somebody
-- who unpublishes an integration ends its installations everywhere. Whoever has just made the organization, or leaves it, is of it.
-- +goose StatementBegin
create function audit_actor(of_organization text, of_object text) returns table (
    type text, id text, name text, token_id text, token_kind text, operation text, request_id text, address text
) language sql stable as $$
    select coalesce(w.said ->> 'type', 'system'), w.said ->> 'id',
        case when k.known then
            coalesce(w.said ->> 'name', (select u.display_name from users u where w.said ->> 'type' = 'user' and u.id = w.said ->> 'id')) end,
        case when k.known then w.said ->> 'tokenId' end, case when k.known then w.said ->> 'tokenKind' end, w.said ->> 'operation',
        case when k.known then w.said ->> 'requestId' end, case when k.known then w.said ->> 'address' end
    from (select nullif(current_setting('octavo.actor', true), '')::jsonb as said) w
    cross join lateral (
        select of_organization is null or coalesce(w.said ->> 'tokenKind', '') not in ('user', 'session')
            or coalesce(w.said ->> 'id' = of_object, false)
            or exists (select from memberships m where m.user_id = w.said ->> 'id' and m.organization_id = of_organization)
            or exists (select from organizations o where o.id = of_organization and o.created_at = now()) as known
    ) k
$$;
-- +goose StatementEnd

-- Entries stay as they are. This guards against mistakes in this service, not against somebody with the right to change tables.
-- +goose StatementBegin
create function audit_log_stays() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('octavo.forget_audit_entries', true) = 'on' then
        return old;
    end if;
    raise exception 'entries of the audit log stay as they are';
end
$$;
-- +goose StatementEnd
create trigger audit_log_stays before update or delete on audit_log for each row execute function audit_log_stays();
create trigger audit_log_is_not_truncated before truncate on audit_log for each statement execute function audit_log_stays();

-- The only way in which entries go: a bounded number of those that are older than a time, and of those of a removed organization.
-- +goose StatementBegin
create function forget_audit_entries(older_than timestamptz, of_organization text, most integer) returns bigint
language plpgsql as $$
declare
    forgotten bigint;
begin
    perform set_config('octavo.forget_audit_entries', 'on', true);
    if of_organization is null then
        delete from audit_log where id in (select l.id from audit_log l where l.at < older_than limit most);
    else
        delete from audit_log where id in (select l.id from audit_log l where l.organization_id = of_organization limit most);
    end if;
    get diagnostics forgotten = row_count;
    perform set_config('octavo.forget_audit_entries', '', true);
    return forgotten;
end
$$;
-- +goose StatementEnd

-- +goose Down
-- The triggers that Migrate has put on other tables go with their functions.
-- +goose StatementBegin
do $$
declare
    f regprocedure;
begin
    for f in select oid::regprocedure from pg_proc where proname like 'audit\_of\_%' and pronamespace = current_schema()::regnamespace loop
        execute format('drop function %s cascade', f);
    end loop;
end
$$;
-- +goose StatementEnd
drop table audit_log;
drop function forget_audit_entries;
drop function audit_log_stays;
drop function audit_actor;
