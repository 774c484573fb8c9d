-- Webhooks hear of runs of translations that ended.

-- +goose Up
-- +goose StatementBegin
create function webhooks_hear_translation_run() returns trigger language plpgsql as $$
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

create trigger webhooks_hear after update on translation_runs for each row
    when (old.state is distinct from new.state and new.state in ('done', 'failed'))
    execute function webhooks_hear_translation_run();

-- +goose Down
drop trigger webhooks_hear on translation_runs;
drop function webhooks_hear_translation_run;
