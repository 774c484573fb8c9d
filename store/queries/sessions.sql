-- name: InsertSession :one
insert into sessions (id, hash, opened, provider_id, organization_id, user_id, expires_at, code_expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8) returning *;

-- name: SessionByHash :one
-- Index: sessions_hash_key.
select * from sessions where hash = $1 and opened;

-- name: OpenSession :one
-- The code is gone with this: it opens one session once.
update sessions set hash = sqlc.arg(hash), opened = true, code_expires_at = null
where hash = sqlc.arg(code) and not opened and code_expires_at > now() and expires_at > now()
returning *;

-- name: ListSessions :many
-- Index: sessions_member (user_id, organization_id, id). A plain comparison would draw the index of ends, which has everybody's.
select sqlc.embed(s), p.label
from sessions s join saml_providers p on p.id = s.provider_id
where s.user_id = sqlc.arg(user_id) and s.organization_id = sqlc.arg(organization_id) and s.opened and (s.expires_at > now()) is true
  and s.id > sqlc.arg(after)::text collate "C"
order by s.id
limit sqlc.arg(page_size);

-- name: CountSessions :one
-- Index: sessions_member.
select count(*) from sessions s
where s.user_id = sqlc.arg(user_id) and s.organization_id = sqlc.arg(organization_id) and s.opened and (s.expires_at > now()) is true;

-- name: DeleteSession :exec
delete from sessions
where id = sqlc.arg(id) and user_id = sqlc.arg(user_id) and organization_id = sqlc.arg(organization_id);

-- name: DeleteSessionsOfMember :exec
-- Index: sessions_member.
delete from sessions where user_id = sqlc.arg(user_id) and organization_id = sqlc.arg(organization_id);

-- name: TouchSessions :exec
update sessions set last_used_at = sqlc.arg(used_at)
where id = any(sqlc.arg(ids)::text[])
  and (last_used_at is null or last_used_at < sqlc.arg(used_at)::timestamptz - interval '1 minute'
    or last_used_at > sqlc.arg(used_at)::timestamptz + interval '1 day');

-- name: DeleteEndedSessions :exec
-- No index need be used: Postgres uses sessions_end, except if most sessions have ended.
delete from sessions where expires_at < deletion_time();

-- name: DeleteEndedCodes :exec
-- No index: codes that nobody opened are few, and end within the session.
delete from sessions where not opened and code_expires_at < deletion_time();

-- name: InsertSAMLAnswerOnce :execrows
insert into saml_answers (provider_id, request_id, expires_at) values ($1, $2, $3) on conflict (provider_id, request_id) do nothing;

-- name: DeleteEndedSAMLAnswers :exec
-- No index need be used: Postgres uses saml_answers_end, except if most answers have ended.
delete from saml_answers where expires_at < deletion_time();

-- name: SAMLIdentity :one
-- Index: saml_identities_pkey.
update saml_identities set last_login_at = now() where provider_id = sqlc.arg(provider_id) and name_id = sqlc.arg(name_id)
returning user_id;

-- name: InsertSAMLIdentityOnce :exec
insert into saml_identities (provider_id, name_id, organization_id, user_id) values ($1, $2, $3, $4)
on conflict (provider_id, name_id) do nothing;

-- name: OrganizationOwnsDomain :one
-- Whether a domain is one that the organization names and has proved.
select exists (
    select 1 from organizations o join domain_proofs p on p.organization_id = o.id
    where o.id = sqlc.arg(organization_id) and p.domain = sqlc.arg(domain)
      and sqlc.arg(domain)::text = any(select lower(d) from unnest(o.email_domains) d)
);

-- name: LockActiveSAMLProvider :one
-- The lock prevents a concurrent change or deletion of the provider. So objects of the provider do not outlive it.
select * from saml_providers where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id) and active for share;
