-- These triggers write webhook events. If a webhook of the organization wants the event of a change, a trigger writes
-- the event in the transaction of the change. A job delivers the event. schema/webhook_events.go lists the types of
-- events.

-- webhook_id returns a new id: the time in microseconds and 48 random bits. So ids are sorted by time, like all ids.
create or replace function webhook_id() returns text language sql volatile as $$
    select lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::bigint), 14, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)
$$;

create or replace function webhooks_want(of_organization text, variadic of_types text[])
    returns boolean language sql stable as $$
    select exists (
        select from webhooks w
        where w.organization_id = of_organization and w.active and (cardinality(w.events) = 0 or w.events && of_types)
    )
$$;

-- webhook_event writes an event and its deliveries. If the same transaction has created the object, an update of the
-- object writes no new event. Instead it changes the data of the creation's event, even if no webhook wants updates. If
-- by_user is null, the user is the transaction's actor, which octavo.actor has as JSON.
create or replace function webhook_event(
    of_organization text, of_type text, of_subject text, by_user text, with_data jsonb
) returns void language plpgsql as $$
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
    insert into webhook_events as e (id, organization_id, type, subject, actor, data, created_at)
    values (webhook_id(), of_organization, of_type, of_subject, by_user, with_data, creation_time())
    on conflict (organization_id, type, subject, made_in) do update
        set data = excluded.data, actor = coalesce(excluded.actor, e.actor)
    returning e.id, e.xmax <> 0 into event, again;
    if not again then
        insert into webhook_deliveries (id, webhook_id, event_id, created_at)
        select webhook_id(), w.id, event, creation_time()
        from webhooks w
        where w.organization_id = of_organization and w.active
          and (cardinality(w.events) = 0 or of_type = any(w.events));
    end if;
end
$$;

-- webhooks_hear_comment writes webhook events about comments and replies. If a comment is deleted together with its
-- space, change request or parent, there is no event for the comment.
create or replace function webhooks_hear_comment() returns trigger language plpgsql as $$
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
            or r.change_request_id is not null
                and not exists (select from change_requests c where c.id = r.change_request_id) then
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
            'object', case when r.parent_id is null then 'comment' else 'comment-reply' end,
            'id', r.id, 'space', r.space_id,
            'changeRequest', r.change_request_id, 'comment', r.parent_id, 'page', r.page_id, 'postedBy', r.author_id,
            'status', case when r.parent_id is null then r.status end)));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after insert or delete on comments
    for each row execute function webhooks_hear_comment();
create or replace trigger webhooks_hear_update after update on comments for each row
    when ((old.body, old.status) is distinct from (new.body, new.status))
    execute function webhooks_hear_comment();

create or replace function webhooks_hear_change_request() returns trigger language plpgsql as $$
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
create or replace trigger webhooks_hear after insert on change_requests
    for each row execute function webhooks_hear_change_request();
create or replace trigger webhooks_hear_update after update on change_requests for each row
    when ((old.revision, old.status, old.subject, old.description)
        is distinct from (new.revision, new.status, new.subject, new.description))
    execute function webhooks_hear_change_request();

create or replace function webhooks_hear_review() returns trigger language plpgsql as $$
declare
    request change_requests;
begin
    select * into request from change_requests where id = new.change_request_id;
    if webhooks_want(request.organization_id, 'change_request.reviewed') then
        perform webhook_event(request.organization_id, 'change_request.reviewed', new.id, new.user_id,
            jsonb_build_object(
            'object', 'change-request-review', 'id', new.id, 'space', request.space_id, 'changeRequest', request.id,
            'reviewer', new.user_id, 'status', new.status, 'revision', new.revision));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after insert on change_request_reviews
    for each row execute function webhooks_hear_review();

-- webhooks_hear_content writes an event about a new revision of a space's main content. The revision may come from
-- edits, a merge or an import.
create or replace function webhooks_hear_content() returns trigger language plpgsql as $$
begin
    if webhooks_want(new.organization_id, 'space.content_updated') then
        perform webhook_event(new.organization_id, 'space.content_updated', new.id, r.created_by,
            jsonb_strip_nulls(jsonb_build_object(
            'object', 'space', 'id', new.id, 'revision', new.revision, 'previousRevision', old.revision,
            'revisionType', r.type, 'changeRequest', r.change_request_id)))
        from (select) one left join revisions r on r.id = new.revision and r.space_id = new.id;
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after update on spaces
    for each row when (old.revision is distinct from new.revision)
    execute function webhooks_hear_content();

create or replace function webhooks_hear_cluster() returns trigger language plpgsql as $$
declare
    what text := 'cluster.created';
begin
    if tg_op = 'UPDATE' then
        what := case
            when new.muted = old.muted then 'cluster.updated'
            when new.muted then 'cluster.muted'
            else 'cluster.unmuted'
        end;
    end if;
    if webhooks_want(new.organization_id, what, replace(what, '.updated', '.created')) then
        perform webhook_event(new.organization_id, what, new.id, null, jsonb_build_object(
            'object', 'issues-cluster', 'id', new.id, 'organization', new.organization_id, 'impact', new.impact,
            'muted', new.muted, 'issues', new.issues, 'conversations', new.conversations));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after insert on issues_clusters
    for each row execute function webhooks_hear_cluster();
create or replace trigger webhooks_hear_update after update on issues_clusters for each row
    when ((old.label, old.icon, old.impact, old.muted, old.summary, old.issues, old.conversations)
        is distinct from (new.label, new.icon, new.impact, new.muted, new.summary, new.issues, new.conversations))
    execute function webhooks_hear_cluster();

-- webhooks_hear_cluster_going writes an event about a deleted cluster. If a cluster is deleted together with its
-- organization, there is no event, because the organization no longer has webhooks. If a transaction merges clusters,
-- the setting octavo.merged_clusters has the id of the cluster into which each cluster is merged, as JSON.
create or replace function webhooks_hear_cluster_going() returns trigger language plpgsql as $$
declare
    merged jsonb := nullif(current_setting('octavo.merged_clusters', true), '')::jsonb;
begin
    if webhooks_want(old.organization_id, 'cluster.deleted') then
        perform webhook_event(old.organization_id, 'cluster.deleted', old.id, null,
            jsonb_strip_nulls(jsonb_build_object(
            'object', 'issues-cluster', 'id', old.id, 'organization', old.organization_id, 'impact', old.impact,
            'muted', old.muted, 'issues', old.issues, 'conversations', old.conversations,
            'mergedInto', merged ->> old.id)));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear_delete after delete on issues_clusters
    for each row execute function webhooks_hear_cluster_going();

create or replace function webhooks_hear_installation() returns trigger language plpgsql as $$
declare
    r integration_installations := coalesce(new, old);
    what text := 'installation.'
        || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
begin
    if webhooks_want(r.organization_id, what, replace(what, '.updated', '.created')) then
        perform webhook_event(r.organization_id, what, r.id, null, jsonb_build_object(
            'object', 'installation', 'id', r.id, 'integration', r.integration, 'organization', r.organization_id));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after insert or delete on integration_installations
    for each row execute function webhooks_hear_installation();
create or replace trigger webhooks_hear_update after update on integration_installations for each row
    when (old.updated_at is distinct from new.updated_at)
    execute function webhooks_hear_installation();

-- webhooks_hear_translation_run writes one event when a run ends. A failed attempt that is retried causes no event.
create or replace function webhooks_hear_translation_run() returns trigger language plpgsql as $$
declare
    what text := case new.state when 'done' then 'translation.run.completed' else 'translation.run.failed' end;
    t translations;
begin
    select * into t from translations where id = new.translation_id;
    if webhooks_want(t.organization_id, what) and not exists (
        select from webhook_events e
        where e.organization_id = t.organization_id and e.type = what and e.subject = new.id
    ) then
        perform webhook_event(t.organization_id, what, new.id, null, jsonb_strip_nulls(jsonb_build_object(
            'object', 'translation-run', 'id', new.id, 'translation', t.id, 'organization', t.organization_id,
            'space', t.source_space_id, 'language', t.language, 'reason', nullif(new.reason, ''))));
    end if;
    return null;
end
$$;
create or replace trigger webhooks_hear after update on translation_runs for each row
    when (old.state is distinct from new.state and new.state in ('done', 'failed'))
    execute function webhooks_hear_translation_run();
