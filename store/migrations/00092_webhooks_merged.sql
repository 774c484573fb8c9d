-- Webhooks hear what a cluster was merged into.

-- +goose Up
-- +goose StatementBegin
create or replace function webhooks_hear_cluster_going() returns trigger language plpgsql as $$
declare
    merged jsonb := nullif(current_setting('octavo.merged_clusters', true), '')::jsonb;
begin
    if webhooks_want(old.organization_id, 'cluster.deleted') then
        perform webhook_event(old.organization_id, 'cluster.deleted', old.id, null, jsonb_strip_nulls(jsonb_build_object(
            'object', 'issues-cluster', 'id', old.id, 'organization', old.organization_id, 'impact', old.impact,
            'muted', old.muted, 'issues', old.issues, 'conversations', old.conversations, 'mergedInto', merged ->> old.id)));
    end if;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function webhooks_hear_cluster_going() returns trigger language plpgsql as $$
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
