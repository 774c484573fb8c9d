-- +goose Up

-- The collection or space of a grant: access to both is listed and changed by the same statements.
alter table grants add column content_id text collate "C"
    generated always as (coalesce(collection_id, space_id)) stored;
create index grants_content_user on grants (content_id, user_id) where user_id is not null;
create index grants_content_team on grants (content_id, team_id) where team_id is not null;
drop index grants_collection_user, grants_collection_team;

-- The users who are not members of an organization, but whose names its content shows: former members, and authors of
-- content that came from another organization.
create table remembered_users (
    user_id         text collate "C" not null references users (id) on delete cascade,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    primary key (user_id, organization_id)
);
create index remembered_users_organization on remembered_users (organization_id);
insert into remembered_users (user_id, organization_id)
select n.user_id, s.organization_id
from (
    select author_id as user_id, space_id from comments
    union select resolved_by, space_id from comments
    union select r.user_id, c.space_id from comment_reactions r join comments c on c.id = r.comment_id
    union select created_by, space_id from change_requests
    union select r.user_id, c.space_id
        from change_request_reviews r join change_requests c on c.id = r.change_request_id
    union select r.requested_by, c.space_id
        from change_request_reviews r join change_requests c on c.id = r.change_request_id
    union select r.user_id, c.space_id
        from change_request_reviewers r join change_requests c on c.id = r.change_request_id
    union select r.requested_by, c.space_id
        from change_request_reviewers r join change_requests c on c.id = r.change_request_id
    union select x.user_id, c.space_id from conflict_choices x join change_requests c on c.id = x.change_request_id
) n join spaces s on s.id = n.space_id
where n.user_id is not null
  and not exists (
      select from memberships m where m.user_id = n.user_id and m.organization_id = s.organization_id
  )
on conflict do nothing;
