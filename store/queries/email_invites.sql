-- name: InsertUsersOnce :exec
-- Makes accounts for those addresses that have none. Nobody uses them yet.
insert into users (id, display_name, email, unclaimed)
select unnest(sqlc.arg(ids)::text[]), unnest(sqlc.arg(names)::text[]), unnest(sqlc.arg(emails)::text[]), true
on conflict (lower(email)) do nothing;

-- name: InviteUsers :many
-- Invites those addresses that are not members yet, each with its role; an empty one is a guest's. It replaces a pending invite.
-- Nobody is invited if the inviter is not an admin. The lock makes a concurrent change of the inviter's role wait.
-- Index: users_email.
-- Sorts: the people of one request, so that two requests wait for each other's rows in one order.
with inviter as (
    select m.user_id from memberships m
    where m.organization_id = sqlc.arg(organization_id)::text and m.user_id = sqlc.arg(created_by)::text
      and m.role = 'admin'
    for share
)
insert into email_invites (
    organization_id, user_id, email, role, sso, created_by, expires_at, mail_state, mail_id, mail_asked_at, link_hash
)
select sqlc.arg(organization_id)::text, u.id, x.email, nullif(x.role, ''), sqlc.arg(sso)::boolean, inviter.user_id,
    creation_time() + sqlc.narg(lasts)::interval, sqlc.arg(mail_state), x.mail_id, creation_time(),
    nullif(x.link_hash, '')
from (select unnest(sqlc.arg(emails)::text[]) as email, unnest(sqlc.arg(roles)::text[]) as role,
    unnest(sqlc.arg(mail_ids)::text[]) as mail_id, unnest(sqlc.arg(link_hashes)::bytea[]) as link_hash) x
    join users u on lower(u.email) = lower(x.email) cross join inviter
where not exists (
    select 1 from memberships m where m.organization_id = sqlc.arg(organization_id)::text and m.user_id = u.id
)
order by u.id
on conflict (organization_id, user_id) do update set
    email = excluded.email, role = excluded.role, sso = excluded.sso, created_by = excluded.created_by, created_at = excluded.created_at,
    expires_at = excluded.expires_at, mail_state = excluded.mail_state, mail_id = excluded.mail_id, mail_reason = null,
    mail_asked_at = excluded.mail_asked_at, mail_sent_at = null, link_hash = excluded.link_hash
returning user_id;

-- name: MailInviteAgain :one
-- Asks for another mail: its link replaces that of the last one. One that has not been sent yet is replaced as well.
update email_invites set
    expires_at = creation_time() + sqlc.narg(lasts)::interval, mail_state = 'waiting',
    mail_id = sqlc.arg(mail_id)::text, mail_reason = null, mail_asked_at = creation_time(), mail_sent_at = null,
    link_hash = case when sso then null else sqlc.arg(link_hash)::bytea end
where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id) and (expires_at is null or expires_at > now())
returning *;

-- name: NextInviteMail :one
-- The next mail of an organization that waits, after that to a user.
-- Index: email_invites_mail (organization_id, user_id).
select sqlc.embed(i), o.title, coalesce(u.display_name, '') as inviter
from email_invites i join organizations o on o.id = i.organization_id left join users u on u.id = i.created_by
where i.organization_id = sqlc.arg(organization_id) and i.mail_state = 'waiting' and i.user_id > sqlc.arg(after)::text collate "C"
  and (i.expires_at is null or i.expires_at > now())
order by i.user_id
limit 1;

-- name: InviteMailSent :exec
-- Nothing is noted of a mail that was replaced while it was sent.
update email_invites set mail_state = 'sent', mail_reason = null, mail_sent_at = now()
where organization_id = sqlc.arg(organization_id) and user_id = sqlc.arg(user_id) and mail_id = sqlc.arg(mail_id)::text;

-- name: InviteMailNotSent :exec
-- Records the reason why a mail was not sent. Without a user, it records the reason for all waiting mails. Mails
-- that were requested long ago are given up.
-- Index: email_invites_mail.
update email_invites set
    mail_reason = sqlc.arg(reason)::text,
    mail_state = case when sqlc.arg(final)::boolean or mail_asked_at < deletion_time() - sqlc.arg(kept)::interval
        then 'failed' else 'waiting' end
where organization_id = sqlc.arg(organization_id) and mail_state = 'waiting'
  and (sqlc.narg(user_id)::text is null or user_id = sqlc.narg(user_id) and mail_id = sqlc.narg(mail_id)::text);

-- name: InviteByLink :one
-- Index: email_invites_link_hash_key.
select sqlc.embed(i), o.title, coalesce(inviter.display_name, '') as inviter, u.unclaimed
from email_invites i join organizations o on o.id = i.organization_id join users u on u.id = i.user_id
    left join users inviter on inviter.id = i.created_by
where i.link_hash = sqlc.arg(link_hash)::bytea;

-- name: InviteeOfLink :one
-- Returns the membership that the invite of a link is about.
-- Index: email_invites_link_hash_key.
select organization_id, user_id from email_invites where link_hash = sqlc.arg(link_hash)::bytea;

-- name: TakeInviteByLink :one
delete from email_invites where link_hash = sqlc.arg(link_hash)::bytea returning *;

-- name: ClaimUser :execrows
-- Gives an unused account to the person who follows the link in the mail to the account's address.
update users set unclaimed = false, display_name = coalesce(sqlc.narg(display_name), display_name) where id = sqlc.arg(id) and unclaimed;

-- name: CountMails :one
-- Adds mails to those of today, and gives how many there are now.
-- Index: mail_counts_pkey.
insert into mail_counts (subject, day, mails) values (sqlc.arg(subject), (now() at time zone 'UTC')::date, sqlc.arg(mails))
on conflict (subject, day) do update set mails = mail_counts.mails + excluded.mails
returning mails;

-- name: MakerOf :one
-- No index: maker_of reads memberships_joined.
select maker_of(sqlc.arg(user_id)::text, sqlc.arg(organization)::text)::text;

-- name: DeleteOldMailCounts :exec
-- Index: mail_counts_day.
delete from mail_counts where day < (deletion_time() at time zone 'UTC')::date;

-- name: TakeEmailInvite :one
-- Ends an invite of a user. The returned row has the invite's role.
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
delete from email_invites where expires_at < deletion_time();
