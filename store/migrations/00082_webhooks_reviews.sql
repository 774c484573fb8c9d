-- Webhooks hear of reviews of change requests and of clusters that go, and of a run of a translation that fails once: not again for
-- each attempt.

-- +goose Up
-- +goose StatementBegin
create function webhooks_hear_review() returns trigger language plpgsql as $$
declare
    request change_requests;
begin
    select * into request from change_requests where id = new.change_request_id;
    if webhooks_want(request.organization_id, 'change_request.reviewed') then
        perform webhook_event(request.organization_id, 'change_request.reviewed', new.id, new.user_id, jsonb_build_object(
            'object', 'change-request-review', 'id', new.id, 'space', request.space_id, 'changeRequest', request.id, 'reviewer', new.user_id,
            'status', new.status, 'revision', new.revision));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- Clusters that go together with their organization need no word: it has no webhooks any more.
-- +goose StatementBegin
create function webhooks_hear_cluster_going() returns trigger language plpgsql as $$
begin
    if webhooks_want(old.organization_id, 'cluster.deleted') then
        perform webhook_event(old.organization_id, 'cluster.deleted', old.id, null, jsonb_build_object(
            'object', 'issues-cluster', 'id', old.id, 'organization', old.organization_id, 'impact', old.impact,
            'muted', old.muted, 'issues', old.issues, 'conversations', old.conversations));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

create trigger webhooks_hear after insert on change_request_reviews for each row execute function webhooks_hear_review();
create trigger webhooks_hear_delete after delete on issues_clusters for each row execute function webhooks_hear_cluster_going();

-- +goose StatementBegin
create or replace function webhooks_hear_translation_run() returns trigger language plpgsql as $$
declare
    what text := case new.state when 'done' then 'translation.run.completed' else 'translation.run.failed' end;
    t translations;
begin
    select * into t from translations where id = new.translation_id;
    if webhooks_want(t.organization_id, what) and not exists (
        select from webhook_events e where e.organization_id = t.organization_id and e.type = what and e.subject = new.id
    ) then
        perform webhook_event(t.organization_id, what, new.id, null, jsonb_strip_nulls(jsonb_build_object(
            'object', 'translation-run', 'id', new.id, 'translation', t.id, 'organization', t.organization_id,
            'space', t.source_space_id, 'language', t.language, 'reason', nullif(new.reason, ''))));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop trigger webhooks_hear_delete on issues_clusters;
drop trigger webhooks_hear on change_request_reviews;
drop function webhooks_hear_cluster_going;
drop function webhooks_hear_review;
-- +goose StatementBegin
create or replace function webhooks_hear_translation_run() returns trigger language plpgsql as $$
declare
    what text := case new.state when 'done' then 'translation.run.completed' else 'translation.run.failed' end;
    t translations;
begin
    select * into t from translations where id = new.translation_id;
    if webhooks_want(t.organization_id, what) then
        perform webhook_event(t.organization_id, what, new.id, null, jsonb_strip_nulls(jsonb_build_object(
            'object', 'translation-run', 'id', new.id, 'translation', t.id, 'organization', t.organization_id,
            'space', t.source_space_id, 'language', t.language, 'reason', nullif(new.reason, ''))));
    end if;
    return null;
end
$$;
-- +goose StatementEnd
