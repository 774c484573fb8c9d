-- What was shown of synchronisations and runs that were asked for, and that nothing here does yet.

-- +goose Up

update spaces set git_sync = null where git_sync is not null;
update translations set runs = 0 where runs > 0;

-- +goose Down
select 1;
