-- Which events were deleted because of their age. From here on retentions.carried_out only says whether the present days are
-- due: null is that they were never carried out.
-- +goose Up
create table expiries (
    site_id     text collate "C" not null,
    -- Events of an earlier time were deleted, if they were received before carried_out.
    before      timestamptz not null,
    carried_out timestamptz not null,
    -- Several of a site only where it keeps events for longer than before: what a later row with a later time covers is gone.
    primary key (site_id, before)
);
insert into expiries
select site_id, deleted_before, coalesce(carried_out, now()) from retentions where deleted_before is not null;
alter table retentions drop column deleted_before;

-- +goose Down
alter table retentions add column deleted_before timestamptz;
update retentions r set deleted_before = (select max(e.before) from expiries e where e.site_id = r.site_id);
drop table expiries;
