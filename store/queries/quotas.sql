-- The counts of quotas. Each count stops at a bound, so that the cost of a refusal is bounded by the quota.

-- name: CountAdministered :one
-- Index: memberships_pkey (user_id, organization_id).
select count(*) from (select 1 from memberships where user_id = sqlc.arg(subject) and role = 'admin' limit sqlc.arg(bound)) x;

-- name: CountMembersUpTo :one
-- Members, and those who are invited by e-mail.
-- No index: any index that begins with the organization is enough.
select ((select count(*) from (select 1 from memberships m where m.organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x)
      + (select count(*) from (
            select 1 from email_invites i
            where i.organization_id = sqlc.arg(subject) and (i.expires_at is null or i.expires_at > now()) limit sqlc.arg(bound)) y))::bigint;

-- name: CountTeamsUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from teams where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountLinkInvitesUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from link_invites where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountCollectionsUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from collections where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountSpacesUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from spaces where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountSitesUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from sites where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountIntegrationsUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from integrations where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountOpenAPISpecsUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from openapi_specs where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountConversationsUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from conversations where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: UnmergedChangeRequests :one
-- A space's row has the number of its comments.
select (change_requests_open + change_requests_draft)::bigint from spaces where id = sqlc.arg(subject);

-- name: CommentsOnSpace :one
-- A space's row has the number of its comments.
select (open_comments + resolved_comments)::bigint from spaces where id = sqlc.arg(subject);

-- name: CommentsOnChangeRequest :one
-- A change request's row has the number of its comments.
select (open_comments + resolved_comments)::bigint from change_requests where id = sqlc.arg(subject);

-- name: RepliesToComment :one
-- A comment's row has the number of its replies.
select replies from comments where id = sqlc.arg(subject);

-- name: BytesOfFiles :one
-- Index: files_pkey (space_id, hash).
-- The length of a file is known without reading it. Only requests that add files ask.
select coalesce(sum(x.bytes), 0)::bigint
from spaces s cross join lateral (select sum(octet_length(f.content)) as bytes from files f where f.space_id = s.id) x
where s.organization_id = sqlc.arg(subject);

-- name: CountWebhooksUpTo :one
-- No index: any index that begins with the organization is enough.
select count(*) from (select 1 from webhooks where organization_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountPublishableKeysUpTo :one
-- Index: publishable_keys_site (site_id, id).
select count(*) from (select 1 from publishable_keys where site_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountSavedSegmentsUpTo :one
-- Index: saved_segments_name (site_id, coalesce(owner_id, ''), name).
-- Counts the segments with the site and the owner of one of them.
select count(*) from (
    select 1
    from saved_segments s join saved_segments o
      on o.site_id = s.site_id and coalesce(o.owner_id, '') = coalesce(s.owner_id, '')
    where s.id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: CountInsightsTokensUpTo :one
-- Index: tokens_site (site_id, id).
select count(*) from (
    select 1 from tokens
    where site_id = sqlc.arg(subject)::text and kind = 'insights' and revoked_at is null limit sqlc.arg(bound)) x;

-- name: CountInsightsShareLinksUpTo :one
-- Index: insights_share_links_site (site_id, id).
select count(*) from (select 1 from insights_share_links where site_id = sqlc.arg(subject) limit sqlc.arg(bound)) x;

-- name: MailsToday :one
-- Of what a day's mails are, its row is added to first.
select mails from mail_counts where subject = sqlc.arg(subject) and day = (now() at time zone 'UTC')::date;

-- name: CountAnnotationsUpTo :one
-- By hand: the others make room for themselves.
-- Index: insights_annotations_kind (site_id, kind, at, id).
select count(*) from (
    select 1 from insights_annotations where site_id = sqlc.arg(subject) and kind = 'manual' limit sqlc.arg(bound)
) x;
