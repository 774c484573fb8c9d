-- name: Member :one
select sqlc.embed(m), sqlc.embed(u)
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.user_id = $2;

-- name: ListMembers :many
-- Index: memberships_joined (organization_id, joined_at, user_id), memberships_seen (organization_id, last seen, user_id).
-- Members who were never seen count as seen at the epoch. Planned for its values: see planned.
select sqlc.embed(m), sqlc.embed(u)
from memberships m join users u on u.id = m.user_id
where m.organization_id = sqlc.arg(organization_id)
  and case when sqlc.arg(ascending)::boolean
      then (case when sqlc.arg(by_seen)::boolean then coalesce(m.last_seen_at, 'epoch') else m.joined_at end, m.user_id)
           > (sqlc.arg(after_time)::timestamptz, sqlc.arg(after)::text collate "C")
      else (case when sqlc.arg(by_seen)::boolean then coalesce(m.last_seen_at, 'epoch') else m.joined_at end, m.user_id)
           < (sqlc.arg(after_time)::timestamptz, sqlc.arg(after)::text collate "C") end
  and (sqlc.narg(role)::text is null or coalesce(m.role, 'guest') = sqlc.narg(role))
  and (sqlc.narg(search)::text is null or strpos(lower(u.display_name || ' ' || coalesce(u.email, '')), lower(sqlc.narg(search))) > 0)
order by case when sqlc.arg(ascending)::boolean then
             case when sqlc.arg(by_seen)::boolean then coalesce(m.last_seen_at, 'epoch') else m.joined_at end end,
         case when sqlc.arg(ascending)::boolean then m.user_id end,
         case when sqlc.arg(by_seen)::boolean then coalesce(m.last_seen_at, 'epoch') else m.joined_at end desc, m.user_id desc
limit sqlc.arg(page_size);

-- name: CountMembers :one
-- Index: memberships_organization (organization_id, user_id).
select count(*)
from memberships m join users u on u.id = m.user_id
where m.organization_id = sqlc.arg(organization_id)
  and (sqlc.narg(role)::text is null or coalesce(m.role, 'guest') = sqlc.narg(role))
  and (sqlc.narg(search)::text is null or strpos(lower(u.display_name || ' ' || coalesce(u.email, '')), lower(sqlc.narg(search))) > 0);

-- name: MemberNumbers :many
-- How many teams these members are in, and how many spaces they see.
select m.user_id, n.spaces::bigint as spaces,
       (select count(*) from team_members t where t.user_id = m.user_id and t.organization_id = m.organization_id) as teams
from memberships m
    join spaces_seen_by(sqlc.arg(organization_id), sqlc.arg(users)::text[]) n (user_id, spaces) on n.user_id = m.user_id
where m.organization_id = sqlc.arg(organization_id) and m.user_id = any(sqlc.arg(users)::text[]);

-- name: OtherAdmin :one
select exists (
    select 1 from memberships
    where organization_id = sqlc.arg(organization_id) and user_id <> sqlc.arg(user_id) and role = 'admin'
);

-- name: SetMemberRole :execrows
update memberships set role = sqlc.narg(role) where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id);

-- name: SeeMember :exec
update memberships set last_seen_at = sqlc.arg(seen_at)::timestamptz
where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id)
  and (last_seen_at is null or last_seen_at < sqlc.arg(seen_at)::timestamptz
    or last_seen_at > sqlc.arg(seen_at)::timestamptz + interval '1 day');

-- name: JoinByDomain :one
-- Adds a user to the organization with the default role, if the domain of the user's e-mail address is a proved
-- domain of the organization. Otherwise it returns no row. A member keeps the role.
with open as (
    select o.id, o.default_role, u.id as user_id
    from organizations o join users u on u.id = sqlc.arg(user_id)
    where o.id = sqlc.arg(organization_id)
      and lower(substring(u.email from '[^@]*$')) = any(select lower(d) from unnest(o.email_domains) d)
      and exists (select 1 from domain_proofs p
                  where p.organization_id = o.id and p.domain = lower(substring(u.email from '[^@]*$')))
), joined as (
    insert into memberships (user_id, organization_id, role) select user_id, id, default_role from open
    on conflict (user_id, organization_id) do nothing
    returning user_id
)
select exists (select 1 from joined) as added, (exists (select 1 from open)
    or exists (select 1 from memberships m where m.user_id = sqlc.arg(user_id) and m.organization_id = sqlc.arg(organization_id)))::boolean
    as is_member;

-- name: MembersAmong :many
select user_id from memberships where organization_id = sqlc.arg(organization_id) and user_id = any(sqlc.arg(users)::text[]);

-- name: UserKnownTo :one
-- A user who shares an organization with another, or is the same. listed says that the viewer may list the members of
-- such an organization, as guests may not. With shares false, it is a user whom an organization of the viewer
-- remembers.
select sqlc.embed(u), k.shares, k.listed
from users u cross join lateral (
    select coalesce(u.id = sqlc.arg(viewer)::text or bool_or(true), false)::boolean as shares,
        coalesce(u.id = sqlc.arg(viewer)::text or bool_or(a.role is not null), false)::boolean as listed
    from memberships a join memberships b on b.organization_id = a.organization_id
    where a.user_id = sqlc.arg(viewer)::text and b.user_id = u.id
) k
where u.id = sqlc.arg(id)
  and (k.shares or exists (
      select 1 from memberships a join remembered_users r on r.organization_id = a.organization_id
      where a.user_id = sqlc.arg(viewer)::text and r.user_id = u.id
  ));

-- name: DeleteMembership :exec
-- Grants and memberships of teams go with it. The organization remembers the user.
with gone as (
    delete from memberships m where m.organization_id = sqlc.arg(organization_id) and m.user_id = sqlc.arg(user_id)
    returning m.user_id, m.organization_id
)
insert into remembered_users (user_id, organization_id) select gone.user_id, gone.organization_id from gone
on conflict do nothing;

-- name: RememberAuthors :exec
-- Remembers in an organization the users whom these spaces name.
insert into remembered_users (user_id, organization_id)
select n.user_id, sqlc.arg(organization_id)::text
from (
    select c.author_id as user_id from comments c where c.space_id = any(sqlc.arg(spaces)::text[])
    union select c.resolved_by from comments c where c.space_id = any(sqlc.arg(spaces)::text[])
    union select r.user_id from comments c join comment_reactions r on r.comment_id = c.id
        where c.space_id = any(sqlc.arg(spaces)::text[])
    union select c.created_by from change_requests c where c.space_id = any(sqlc.arg(spaces)::text[])
    union select unnest(array[r.user_id, r.requested_by])
        from change_requests c join change_request_reviews r on r.change_request_id = c.id
        where c.space_id = any(sqlc.arg(spaces)::text[])
    union select unnest(array[r.user_id, r.requested_by])
        from change_requests c join change_request_reviewers r on r.change_request_id = c.id
        where c.space_id = any(sqlc.arg(spaces)::text[])
    union select x.user_id from change_requests c join conflict_choices x on x.change_request_id = c.id
        where c.space_id = any(sqlc.arg(spaces)::text[])
) n
where n.user_id is not null
on conflict do nothing;

-- name: DeleteLinksOfMember :exec
delete from link_invites where organization_id = sqlc.arg(organization_id) and created_by = sqlc.arg(user_id)::text;

-- name: DeleteInvitesOfMember :exec
-- Deletes the invites from a member, and a pending invite to the member. InviteUsers locks invites in the same order.
-- Index: email_invites_pkey.
-- Sorts: the invites of a member, so that two transactions wait for each other's rows in one order.
with locked as (
    select user_id from email_invites
    where organization_id = sqlc.arg(organization_id)::text
      and (created_by = sqlc.arg(member)::text or user_id = sqlc.arg(member)::text)
    order by user_id
    for update
)
delete from email_invites i using locked l
where i.organization_id = sqlc.arg(organization_id)::text and i.user_id = l.user_id;

-- name: DeleteReviewRequestsOfMember :exec
-- Index: change_request_reviewers_user (user_id, change_request_id).
delete from change_request_reviewers r using change_requests c
where r.user_id = sqlc.arg(user_id) and c.id = r.change_request_id and c.organization_id = sqlc.arg(organization_id)
  and c.status in ('draft', 'open');

-- name: NamesOfPeople :many
-- The names of users who are in an organization, or whom it remembers.
-- Index: users_pkey.
select u.id, u.display_name
from users u
where u.id = any(sqlc.arg(ids)::text[])
  and (exists (select 1 from memberships m where m.user_id = u.id and m.organization_id = sqlc.arg(organization_id))
      or sqlc.arg(former)::boolean and exists (
          select 1 from remembered_users r where r.user_id = u.id and r.organization_id = sqlc.arg(organization_id)
      ));
