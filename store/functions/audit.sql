-- These functions are for the audit log. store/audit/triggers.go generates the triggers that write the log.

-- audit_actor returns the actor of the transaction. The statement that begins a transaction sets octavo.actor from the
-- value of postgres.By. The ids are trusted, because they come from this service's own tables. The name is the user's
-- current name. If the actor is a user from outside the organization, the log hides the user's name and address, and
-- the ids of the token and the request. For example, a publisher who unpublishes an integration ends its installations
-- in other organizations. A user who has just created the organization, or who leaves it, is not hidden. Triggers call
-- this function once per entry, because one call per column took a sixth of an entry's time.
create or replace function audit_actor(of_organization text, of_object text) returns table (
    type text, id text, name text, token_id text, token_kind text, operation text, request_id text, address text
) language sql stable as $$
    select coalesce(w.type, 'system'), w.id,
        case when k.known then coalesce(w.name, (
            select u.display_name from users u where w.type = 'user' and u.id = w.id)) end,
        case when k.known then w."tokenId" end, case when k.known then w."tokenKind" end, w.operation,
        case when k.known then w."requestId" end, case when k.known then w.address end
    from json_to_record(coalesce(nullif(current_setting('octavo.actor', true), ''), '{}')::json) as w (
        type text, id text, name text, "tokenId" text, "tokenKind" text, operation text, "requestId" text, address text
    )
    cross join lateral (
        select of_organization is null or coalesce(w."tokenKind", '') not in ('user', 'session')
            or coalesce(w.id = of_object, false)
            or exists (select from memberships m where m.user_id = w.id and m.organization_id = of_organization)
            or exists (select from organizations o where o.id = of_organization and o.created_at = now()) as known
    ) k
$$;

-- audit_log_stays raises an exception if a statement changes entries. It protects the log from mistakes in this
-- service, but not from people who may change the database's tables.
create or replace function audit_log_stays() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('octavo.forget_audit_entries', true) = 'on' then
        return old;
    end if;
    raise exception 'cannot change or delete entries of the audit log';
end
$$;
create or replace trigger audit_log_stays before update or delete on audit_log
    for each row execute function audit_log_stays();
create or replace trigger audit_log_is_not_truncated before truncate on audit_log
    for each statement execute function audit_log_stays();

-- forget_audit_entries deletes at most `most` entries. If of_organization is null, it deletes entries that are older
-- than older_than. Otherwise it deletes entries of this removed organization. Only this function deletes entries.
create or replace function forget_audit_entries(older_than timestamptz, of_organization text, most integer)
    returns bigint
language plpgsql as $$
declare
    forgotten bigint;
begin
    perform set_config('octavo.forget_audit_entries', 'on', true);
    if of_organization is null then
        delete from audit_log where id in (select l.id from audit_log l where l.at < older_than limit most);
    else
        delete from audit_log
        where id in (select l.id from audit_log l where l.organization_id = of_organization limit most);
    end if;
    get diagnostics forgotten = row_count;
    perform set_config('octavo.forget_audit_entries', '', true);
    return forgotten;
end
$$;
