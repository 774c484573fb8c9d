-- name: InsertOrganization :one
insert into organizations (id, title, email_domains) values ($1, $2, $3) returning *;

-- name: OrganizationForUser :one
-- The organization and the user's role in it. The result is empty if the user is not in the organization, and if the
-- organization does not exist. So the caller cannot tell the two apart.
select sqlc.embed(o), m.role
from memberships m join organizations o on o.id = m.organization_id
where m.user_id = sqlc.arg(user_id) and m.organization_id = sqlc.arg(organization_id);

-- name: ListOrganizationsForUser :many
-- Index: memberships_pkey (user_id, organization_id).
select sqlc.embed(o), m.role
from memberships m join organizations o on o.id = m.organization_id
where m.user_id = sqlc.arg(user_id) and m.organization_id > sqlc.arg(after)::text collate "C"
order by m.organization_id
limit sqlc.arg(page_size);

-- name: CountOrganizationsForUser :one
-- Index: memberships_pkey.
select count(*) from memberships where user_id = $1;

-- name: UpsertMembership :exec
insert into memberships (user_id, organization_id, role) values ($1, $2, $3)
on conflict (user_id, organization_id) do update set role = excluded.role;

-- name: OrganizationBySubdomain :one
select id from organizations where hostname = sqlc.arg(hostname)::text;

-- name: UpdateOrganization :one
-- Null leaves a member as it is. For some members null is a value. These members are set only if their set_ parameter
-- is true.
update organizations set
    title = coalesce(sqlc.narg(title), title),
    email_domains = coalesce(sqlc.narg(email_domains)::text[], email_domains),
    hostname = coalesce(sqlc.narg(hostname), hostname),
    default_role = case when sqlc.arg(set_default_role)::boolean then sqlc.narg(default_role) else default_role end,
    default_site = case when sqlc.arg(set_default_site)::boolean then sqlc.narg(default_site) else default_site end,
    logo = case when sqlc.arg(set_logo)::boolean then sqlc.narg(logo) else logo end,
    merge_rules = coalesce(sqlc.narg(merge_rules), merge_rules),
    sso = coalesce(sqlc.narg(sso), sso),
    ai = coalesce(sqlc.narg(ai), ai),
    invite_links = coalesce(sqlc.narg(invite_links), invite_links)
where id = sqlc.arg(id)
returning *;

-- name: SiteInOrganization :one
select exists (select 1 from sites where id = $1 and organization_id = $2);

-- name: MarkOrganizationDeleted :exec
-- Its hostname is free again.
update organizations set deleted_at = coalesce(deleted_at, now()), hostname = null, default_site = null where id = $1;

-- name: DeleteMemberships :exec
delete from memberships where organization_id = $1;

-- name: DeleteLinkInvites :exec
delete from link_invites where organization_id = $1;

-- name: DeleteEmailInvites :exec
delete from email_invites where organization_id = $1;

-- name: DeleteDomainProofs :exec
delete from domain_proofs where organization_id = $1;

-- name: DeleteSiteTokens :exec
delete from tokens where site_id in (select s.id from sites s where s.organization_id = $1);

-- name: DeleteInsightsShareLinksOfSites :exec
delete from insights_share_links where site_id in (select s.id from sites s where s.organization_id = $1);

-- name: DeletePublishableKeysOfSites :exec
delete from publishable_keys where site_id in (select s.id from sites s where s.organization_id = $1);

-- name: DeleteIntegrations :exec
-- Their installations, in other organizations too, go with them.
delete from integrations where organization_id = $1;

-- name: DeletedOrganization :one
-- Index: organizations_deleted (deleted_at) of deleted organizations.
select id from organizations where deleted_at is not null order by deleted_at limit 1;

-- The queries below delete a part of what a deleted organization has, so that no statement takes long.

-- name: PurgeComments :execrows
delete from comments where id in (
    select c.id from spaces s join comments c on c.space_id = s.id where s.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size));

-- name: PurgeChangeRequests :execrows
delete from change_requests where id in (
    select c.id from change_requests c where c.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size));

-- name: PurgeConversations :execrows
delete from conversations where id in (
    select c.id from conversations c where c.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size));

-- name: PurgeSites :execrows
delete from sites where id in (
    select s.id from sites s where s.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size));

-- name: PurgeJobs :execrows
-- Running jobs stay until they end; the next purge deletes them.
-- Index: jobs_organization.
delete from river_job where id in (
    select j.id from river_job j where j.metadata ->> 'organization' = sqlc.arg(organization_id)::text and j.state <> 'running'
    limit sqlc.arg(size));

-- name: PurgeSpaces :execrows
-- Their content goes later: see deleted_spaces.
with gone as (
    delete from spaces where id in (
        select s.id from spaces s where s.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size))
    returning spaces.id
)
insert into deleted_spaces (id) select gone.id from gone;

-- name: PurgeOrganization :exec
-- Remaining rows are deleted with the organization.
delete from organizations where id = $1 and deleted_at is not null;

-- name: OrganizationMergeRules :one
select merge_rules from organizations where id = $1;
