-- +goose Up

-- The installation's knowledge of the time. Nodes write it every minute. See store/clock.
create table clock (
    the          boolean primary key default true check (the),
    -- The furthest time that nodes have seen, by this database's clock. Null before the first look.
    seen_at      timestamptz,
    -- Why the clock is in doubt: it is days ahead of the furthest time, or days behind it. Null: it is not.
    doubt        text check (doubt in ('ahead', 'behind')),
    doubted_at   timestamptz,
    -- The microseconds that nodes have run since, and the node that counts them.
    ran          bigint not null default 0,
    counted_by   text,
    -- When an operator last said that the clock is right.
    confirmed_at timestamptz,
    check ((doubt is null) = (doubted_at is null))
);
insert into clock default values;
