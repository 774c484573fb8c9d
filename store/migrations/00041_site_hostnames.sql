-- The names of hosts at which readers find sites.

-- +goose Up
alter table sites
    -- In lower case. It leads nowhere until it is proved.
    add column hostname           text collate "C",
    add column hostname_proved_by text check (hostname_proved_by in ('dns', 'operator')),
    add column hostname_proved_at timestamptz,
    add check ((hostname_proved_by is null) = (hostname_proved_at is null)),
    add check (hostname is not null or hostname_proved_at is null);

-- Several sites may claim a name; the one that proves it has it.
create unique index sites_hostname on sites (hostname) where hostname_proved_at is not null;

-- +goose Down
drop index sites_hostname;
alter table sites
    drop column hostname,
    drop column hostname_proved_by,
    drop column hostname_proved_at;
