-- Collections are listed with parents before what is in them: by how deep they stand, then by their order.

-- +goose Up
-- How deep a collection stands; at the top it is 1. The triggers keep it: whatever changes parents, of one collection or of many, need
-- not know.
alter table collections add column depth integer not null default 1;

-- +goose StatementBegin
with recursive tree as (
    select c.id, 1 as depth from collections c where c.parent_id is null
    union all
    select c.id, t.depth + 1 from tree t join collections c on c.parent_id = t.id
)
update collections c set depth = t.depth from tree t where t.id = c.id and t.depth > 1;
-- +goose StatementEnd

-- +goose StatementBegin
create function collection_depth() returns trigger language plpgsql as $$
begin
    new.depth := coalesce((select p.depth + 1 from collections p where p.id = new.parent_id), 1);
    return new;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function collection_depth_below() returns trigger language plpgsql as $$
begin
    update collections c set depth = new.depth + 1 where c.parent_id = new.id;
    return null;
end
$$;
-- +goose StatementEnd

create trigger collection_depth before insert or update of parent_id on collections
    for each row execute function collection_depth();
create trigger collection_depth_below after update on collections
    for each row when (old.depth <> new.depth) execute function collection_depth_below();

drop index collections_order;
create index collections_order on collections (organization_id, depth, position, id);

-- +goose Down
drop index collections_order;
create index collections_order on collections (organization_id, position, id);
drop trigger collection_depth_below on collections;
drop trigger collection_depth on collections;
drop function collection_depth_below();
drop function collection_depth();
alter table collections drop column depth;
