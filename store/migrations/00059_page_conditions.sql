-- A search for a site's visitor asks which spaces have pages with conditions. Few have any.

-- +goose Up
create index branch_pages_conditions on branch_pages (branch) where page -> 'condition' is not null and until = 2147483647;

-- +goose Down
drop index branch_pages_conditions;
