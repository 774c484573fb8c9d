-- name: InsertWebhook :one
insert into webhooks (id, organization_id, url, description, events, active, secret)
values ($1, $2, $3, $4, $5, $6, $7)
returning *;

-- name: WebhookByID :one
select * from webhooks where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: UpdateWebhook :one
-- If a webhook becomes active again or gets another address, its failures are cleared. HastenDeliveries then ends the
-- pauses of its deliveries.
update webhooks w set
    url = coalesce(sqlc.narg(url), w.url), description = coalesce(sqlc.narg(description), w.description),
    events = coalesce(sqlc.narg(events)::text[], w.events), active = coalesce(sqlc.narg(active), w.active),
    failures = case when sqlc.narg(active) and not w.active or sqlc.narg(url) <> w.url then 0 else w.failures end,
    failing_since = case when sqlc.narg(active) and not w.active or sqlc.narg(url) <> w.url
        then null else w.failing_since end,
    held_until = case when sqlc.narg(active) and not w.active or sqlc.narg(url) <> w.url
        then null else w.held_until end,
    due_at = case when sqlc.narg(active) and not w.active or sqlc.narg(url) <> w.url then now() else w.due_at end,
    disabled_at = case when sqlc.narg(active) is null then w.disabled_at end,
    disabled_reason = case when sqlc.narg(active) is null then w.disabled_reason end,
    updated_at = now()
where w.id = sqlc.arg(id) and w.organization_id = sqlc.arg(organization_id)
returning *;

-- name: HastenDeliveries :exec
-- Ends the pauses of a webhook's deliveries if its failures were cleared. UpdateWebhook in the same transaction has
-- then set due_at to now(). The attempt of a locked delivery ends now, and RecordDelivery decides about its pause.
-- Index: webhook_deliveries_pending.
update webhook_deliveries set next_attempt_at = now() where id = any(array(
    select d.id from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where d.webhook_id = sqlc.arg(webhook_id) and w.due_at = now() and d.state = 'pending' and d.next_attempt_at > now()
    for update of d skip locked
));

-- name: RotateWebhookSecret :one
update webhooks set former_secret = secret, former_until = sqlc.arg(former_until)::timestamptz, secret = sqlc.arg(secret), updated_at = now()
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

-- name: DeleteWebhook :exec
delete from webhooks where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: DeleteWebhooks :exec
delete from webhooks where organization_id = $1;

-- name: ListWebhooks :many
-- Index: webhooks_organization (organization_id, id).
select * from webhooks
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountWebhooks :one
-- No index: every index that starts with the organization does as well.
select count(*) from webhooks where organization_id = $1;

-- name: InsertPing :one
-- Inserts an event for this webhook alone, independent of the webhook's event types.
with ping as (
    insert into webhook_events (id, organization_id, type, subject, actor, data, created_at)
    select webhook_id(), w.organization_id, sqlc.arg(type), w.id, sqlc.arg(actor),
        jsonb_build_object('object', 'webhook', 'id', w.id, 'organization', w.organization_id), creation_time()
    from webhooks w where w.id = sqlc.arg(id) and w.organization_id = sqlc.arg(organization_id)
    returning id
)
insert into webhook_deliveries (id, webhook_id, event_id, by_hand, created_at)
select webhook_id(), sqlc.arg(id), ping.id, true, creation_time() from ping
returning id;

-- name: RedeliverEvent :one
-- Another delivery of the same event.
insert into webhook_deliveries (id, webhook_id, event_id, redelivers, by_hand, created_at)
select webhook_id(), d.webhook_id, d.event_id, d.id, true, creation_time()
from webhook_deliveries d where d.id = sqlc.arg(id)
returning id;

-- name: HastenDelivery :exec
-- A pending delivery is sent next. Like a new delivery it asks for a job.
update webhook_deliveries set next_attempt_at = now(), by_hand = true, asked = false where id = sqlc.arg(id) and state = 'pending';

-- name: CountDeliveriesByHand :one
-- Index: webhook_deliveries_pending.
select count(*) from (
    select 1 from webhook_deliveries where webhook_id = sqlc.arg(webhook_id) and state = 'pending' and by_hand limit sqlc.arg(bound)
) x;

-- name: LiftWebhookHold :exec
-- Somebody says that the receiver is back.
update webhooks set held_until = null where id = $1;

-- name: WebhookDelivery :one
-- Index: webhook_deliveries_webhook (webhook_id, id).
select sqlc.embed(d), sqlc.embed(e)
from webhook_deliveries d join webhook_events e on e.id = d.event_id
where d.id = sqlc.arg(id) and d.webhook_id = sqlc.arg(webhook_id);

-- name: ListWebhookDeliveries :many
-- The newest first.
-- Index: webhook_deliveries_webhook (webhook_id, id).
select sqlc.embed(d), sqlc.embed(e)
from webhook_deliveries d join webhook_events e on e.id = d.event_id
where d.webhook_id = sqlc.arg(webhook_id) and d.id < sqlc.arg(before)::text collate "C"
  and (sqlc.narg(state)::text is null or d.state = sqlc.narg(state))
  and (sqlc.narg(type)::text is null or e.type = sqlc.narg(type))
order by d.id desc
limit sqlc.arg(page_size);

-- name: CountWebhookDeliveries :one
-- Index: webhook_deliveries_webhook (webhook_id, id).
select count(*)
from webhook_deliveries d join webhook_events e on e.id = d.event_id
where d.webhook_id = sqlc.arg(webhook_id)
  and (sqlc.narg(state)::text is null or d.state = sqlc.narg(state))
  and (sqlc.narg(type)::text is null or e.type = sqlc.narg(type));

-- name: AskAboutNewDeliveries :many
-- Marks new deliveries and returns their webhooks. Concurrent nodes share the deliveries. If a webhook is held, its
-- job is enqueued when the hold ends (RecordWebhookFailure).
-- Index: webhook_deliveries_new.
-- Sorts: a batch.
with marked as (
    update webhook_deliveries d set asked = true where d.id = any(array(
        select n.id from webhook_deliveries n where not n.asked order by n.id limit sqlc.arg(size) for update skip locked
    ))
    returning d.webhook_id
)
select w.id, w.organization_id from webhooks w
where w.active and (w.held_until is null or w.held_until <= now()) and w.id in (select marked.webhook_id from marked)
order by w.id;

-- name: AskAboutDueWebhooks :many
-- Gives the webhooks whose time has come, and lets them be asked for again in case the job is lost.
-- Index: webhooks_due.
-- Sorts: a batch.
with marked as (
    update webhooks w set due_at = now() + sqlc.arg(lease)::interval where w.id = any(array(
        select n.id from webhooks n where n.active and n.due_at is not null and n.due_at <= now() order by n.due_at limit sqlc.arg(size)
        for update skip locked
    ))
    returning w.id, w.organization_id
)
select id, organization_id from marked order by id;

-- name: UnaskedDeliveries :one
-- Returns the waiting time, in seconds, of the oldest delivery without a job. It is less than 0 if the delivery is
-- not due yet. created_at may be ahead of a clock that is behind, so it is not the time since which a delivery waits.
-- Index: webhook_deliveries_new, webhooks_due.
select coalesce(extract(epoch from now() - least(
    (select n.next_attempt_at from webhook_deliveries n where not n.asked order by n.id limit 1),
    (select w.due_at from webhooks w where w.active and w.due_at is not null order by w.due_at limit 1)
)), 0)::float8 as seconds;

-- name: NextWebhookDelivery :one
-- Returns the first due delivery of a webhook that is not held. Deliveries that a user waits for come first.
-- Index: webhook_deliveries_pending.
select sqlc.embed(w), sqlc.embed(d), sqlc.embed(e),
    coalesce(w.failing_since < deletion_time() - sqlc.arg(patience)::interval, false)::boolean as gives_up
from webhooks w
join webhook_deliveries d on d.webhook_id = w.id
join webhook_events e on e.id = d.event_id
where w.id = sqlc.arg(webhook_id) and w.active and (w.held_until is null or w.held_until <= now())
  and d.webhook_id = sqlc.arg(webhook_id) and d.state = 'pending' and d.next_attempt_at <= now()
order by d.by_hand desc, d.id
limit 1;

-- name: RecordDelivery :exec
-- Records the outcome of an attempt. If another node has already recorded an outcome, the delivery stays unchanged.
update webhook_deliveries set
    state = sqlc.arg(state), attempts = attempts + 1, next_attempt_at = now() + sqlc.narg(pause)::interval,
    attempted_at = sqlc.arg(attempted_at)::timestamptz,
    status_code = sqlc.narg(status_code), duration_ms = sqlc.arg(duration_ms)::integer, reason = sqlc.narg(reason),
    response = sqlc.narg(response), settled_at = case when sqlc.arg(state) <> 'pending' then now() end
where id = sqlc.arg(id) and state = 'pending';

-- name: RecordWebhookSuccess :exec
-- A success at an earlier address does not count.
update webhooks set failures = 0, failing_since = null, held_until = null
where id = sqlc.arg(id) and url = sqlc.arg(url) and (failures > 0 or held_until is not null);

-- name: RecordWebhookFailure :execrows
-- Until the hold ends, no job is enqueued. A failure at an earlier address does not count.
update webhooks set
    failures = failures + 1, failing_since = coalesce(failing_since, creation_time()),
    held_until = now() + sqlc.arg(hold)::interval,
    due_at = now() + sqlc.arg(hold)::interval
where id = sqlc.arg(id) and url = sqlc.arg(url);

-- name: RetryDelivery :exec
-- Sends a delivery again that failed at an earlier address of its webhook. An inactive webhook gets nothing.
update webhook_deliveries d set state = 'pending', next_attempt_at = now(), settled_at = null
from webhooks w
where d.id = sqlc.arg(id) and d.state <> 'delivered' and w.id = d.webhook_id and w.active;

-- name: DisableWebhook :exec
update webhooks set
    active = false, disabled_at = now(), disabled_reason = sqlc.arg(reason)::text, due_at = null, updated_at = now()
where id = sqlc.arg(id) and active;

-- name: FailDeliveries :execrows
-- Fails deliveries that have been pending for some time. Without a time, it fails all of an inactive webhook. Somebody
-- may have made the webhook active again, so that its new deliveries must be sent.
update webhook_deliveries set state = 'failed', reason = coalesce(reason, sqlc.arg(reason)::text), next_attempt_at = null, settled_at = now(), asked = true
where state = 'pending' and id = any(array(
    select p.id from webhook_deliveries p
    where p.webhook_id = sqlc.arg(webhook_id) and p.state = 'pending'
      and case when sqlc.narg(waited)::interval is null
          then exists (select from webhooks w where w.id = p.webhook_id and not w.active)
          else p.created_at < deletion_time() - sqlc.narg(waited)::interval end
    limit sqlc.arg(size)
));

-- name: RestWebhook :exec
-- Says when there is more to do: when the next delivery is due, or never. One that is held has its time.
update webhooks w set due_at = (
    select min(d.next_attempt_at) from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending'
)
where w.id = $1 and w.active and (w.held_until is null or w.held_until <= now());

-- name: DeleteOldWebhookEvents :execrows
-- Their deliveries go with them.
-- Index: webhook_events_at.
delete from webhook_events where id = any(array(
    select o.id from webhook_events o where o.created_at < deletion_time() - sqlc.arg(kept)::interval
    order by o.created_at limit sqlc.arg(size)
));

-- name: PurgeWebhookEvents :execrows
delete from webhook_events where id = any(array(
    select e.id from webhook_events e where e.organization_id = sqlc.arg(organization_id) limit sqlc.arg(size)
));
