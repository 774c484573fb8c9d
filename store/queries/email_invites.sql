-- name: InsertUsersOnce :exec
-- Makes accounts for those addresses that have none.
insert into users (id, display_name, email)
select unnest(sqlc.arg(ids)::text[]), unnest(sqlc.arg(names)::text[]), unnest(sqlc.arg(emails)::text[])
on conflict (lower(email)) do nothing;

-- name: InviteUsers :many
-- Invites those addresses that are not members yet, each with its role; an empty one is a guest's. It replaces a pending invite.
-- Index: users_email.
-- Sorts: the people of one request, so that two requests wait for each other's rows in one order.
insert into email_invites (organization_id, user_id, email, role, sso, created_by, expires_at)
select sqlc.arg(organization_id), u.id, x.email, nullif(x.role, ''), sqlc.arg(sso)::boolean, sqlc.arg(created_by)::text, sqlc.narg(expires_at)
from (select unnest(sqlc.arg(emails)::text[]) as email, unnest(sqlc.arg(roles)::text[]) as role) x
    join users u on lower(u.email) = lower(x.email)
where not exists (select 1 from memberships m where m.organization_id = sqlc.arg(organization_id) and m.user_id = u.id)
order by u.id
on conflict (organization_id, user_id) do update set
    email = excluded.email, role = excluded.role, sso = excluded.sso, created_by = excluded.created_by, created_at = excluded.created_at,
    expires_at = excluded.expires_at
returning user_id;

-- name: TakeEmailInvite :one
-- Ends an invite for whom it is for; its row says what it gives.
delete from email_invites where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id) returning *;

-- name: DeleteEmailInvite :exec
delete from email_invites where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id);

-- name: ListEmailInvites :many
-- Index: email_invites_pkey (organization_id, user_id).
select * from email_invites
where organization_id = sqlc.arg(organization_id) and user_id > sqlc.arg(after)::text collate "C"
  and (expires_at is null or expires_at > now())
order by user_id
limit sqlc.arg(page_size);

-- name: CountEmailInvites :one
-- No index: every index that starts with the organization does as well.
select count(*) from email_invites where organization_id = $1 and (expires_at is null or expires_at > now());

-- name: ListInvitesOfUser :many
-- Index: email_invites_user (user_id, organization_id).
select sqlc.embed(i), o.title
from email_invites i join organizations o on o.id = i.organization_id
where i.user_id = sqlc.arg(user_id) and i.organization_id > sqlc.arg(after)::text collate "C"
  and (i.expires_at is null or i.expires_at > now())
order by i.organization_id
limit sqlc.arg(page_size);

-- name: CountInvitesOfUser :one
-- Index: email_invites_user.
select count(*) from email_invites where user_id = $1 and (expires_at is null or expires_at > now());

-- name: DeleteEndedEmailInvites :exec
-- Index: email_invites_end.
delete from email_invites where expires_at < now();
