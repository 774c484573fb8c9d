-- name: ListAuditEntries :many
-- Index: audit_log_organization (organization_id, at, id).
-- The newest first. Planned for its values: see planned.
select * from audit_log
where organization_id = sqlc.arg(organization_id)::text
  and (at, id) < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::bigint)
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (sqlc.narg(actor)::text is null or actor_id = sqlc.narg(actor))
  and (sqlc.narg(operation)::text is null or operation = sqlc.narg(operation))
  and (sqlc.narg(object_type)::text is null or object_type = sqlc.narg(object_type))
  and (sqlc.narg(object_id)::text is null or object_id = sqlc.narg(object_id))
order by at desc, id desc
limit sqlc.arg(page_size);

-- name: CountAuditEntries :one
-- No index: any index that begins with the organization is enough.
select count(*) from audit_log
where organization_id = sqlc.arg(organization_id)::text
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (sqlc.narg(actor)::text is null or actor_id = sqlc.narg(actor))
  and (sqlc.narg(operation)::text is null or operation = sqlc.narg(operation))
  and (sqlc.narg(object_type)::text is null or object_type = sqlc.narg(object_type))
  and (sqlc.narg(object_id)::text is null or object_id = sqlc.narg(object_id));

-- name: ListInstallationAuditEntries :many
-- For the operator: what belongs to no organization. The newest first. The order names what is null, or Postgres would sort.
-- Index: audit_log_organization (organization_id, at, id).
select * from audit_log
where organization_id is null and (at, id) < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::bigint)
order by organization_id desc, at desc, id desc
limit sqlc.arg(page_size);

-- name: AuditEntry :one
select * from audit_log where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)::text;

-- name: ForgetAuditEntries :one
-- With a null organization, it deletes the old entries of all organizations and of the installation.
select forget_audit_entries(
    deletion_time() - sqlc.arg(kept)::interval, sqlc.narg(organization_id), sqlc.arg(most)
)::bigint;
