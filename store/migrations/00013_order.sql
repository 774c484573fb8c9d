-- Collections and spaces stand in order as what sites are made of does: by whole numbers with gaps (store/order.go).

-- +goose Up
with placed as (
    select k.id, (1::bigint << 62)
               + (row_number() over (partition by k.organization_id, k.parent_id order by k.position, k.id) << 32) as position
    from (
        select id, organization_id, parent_id, position from collections
        union all
        select id, organization_id, parent_id, position from spaces
    ) k
), of_spaces as (
    update spaces s set position = p.position from placed p where p.id = s.id
)
update collections c set position = p.position from placed p where p.id = c.id;

alter table collections alter column position type bigint;
alter table spaces alter column position type bigint;

-- What collections hold: collections and spaces with the same parent share one order.
create view placed_content as
select 'collection'::text as type, c.id, c.organization_id, c.parent_id, c.position from collections c
union all
select 'space', s.id, s.organization_id, s.parent_id, s.position from spaces s;

-- +goose Down
drop view placed_content;
alter table spaces alter column position type numeric;
alter table collections alter column position type numeric;
