-- +goose Up

-- The index has the words that all visitors see of pages with conditional text. All spaces are indexed again: Migrate
-- asks for the jobs.
update search_spaces set revision = '', target = '', reached = '';

-- Former admins may have invites from before a demotion ended them. A member's pending invite may have a higher role
-- than an admin has since left to the member.
delete from link_invites l
where l.created_by is not null and not exists (
    select 1 from memberships m
    where m.organization_id = l.organization_id and m.user_id = l.created_by and m.role = 'admin'
);
delete from email_invites i
where i.created_by is not null and not exists (
    select 1 from memberships m
    where m.organization_id = i.organization_id and m.user_id = i.created_by and m.role = 'admin'
) or exists (
    select 1 from memberships m where m.organization_id = i.organization_id and m.user_id = i.user_id
);
