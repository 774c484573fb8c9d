-- The scripts of the versions before the newest, whose script is in its integration's row. Those of older versions before this table are
-- not known.

-- +goose Up
create table integration_scripts (
    integration text collate "C" not null,
    version     integer not null,
    script      text    not null,
    primary key (integration, version),
    foreign key (integration, version) references integration_versions (integration, version) on delete cascade
);

-- A trigger, since who publishes for the second time at once with the first sees no row before it has the lock of it.
-- +goose StatementBegin
create function keep_integration_script() returns trigger language plpgsql as $$
begin
    insert into integration_scripts (integration, version, script) values (old.name, old.version, old.script);
    return null;
end
$$;
-- +goose StatementEnd

create trigger integrations_script after update on integrations
    for each row when (old.version <> new.version) execute function keep_integration_script();

-- +goose Down
drop trigger integrations_script on integrations;
drop function keep_integration_script();
drop table integration_scripts;
