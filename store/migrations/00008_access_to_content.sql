-- +goose Up

-- The collection or space of a grant: access to both is listed and changed by the same statements.
alter table grants add column content_id text collate "C"
    generated always as (coalesce(collection_id, space_id)) stored;
create index grants_content_user on grants (content_id, user_id) where user_id is not null;
create index grants_content_team on grants (content_id, team_id) where team_id is not null;
drop index grants_collection_user, grants_collection_team;
