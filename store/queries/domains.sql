-- name: DomainProofs :many
select * from domain_proofs where organization_id = $1;

-- name: ProveDomain :execrows
-- If the organization does not name the domain, no row is stored. An existing proof stays unchanged.
insert into domain_proofs (organization_id, domain, proved_by)
select o.id, lower(sqlc.arg(domain)), sqlc.arg(proved_by)
from organizations o
where o.id = sqlc.arg(organization_id) and lower(sqlc.arg(domain)) = any(select lower(d) from unnest(o.email_domains) d)
on conflict (organization_id, domain) do update set domain = excluded.domain;

-- name: DropDomainProofs :exec
-- A domain that an organization names again must be proved again.
delete from domain_proofs p
where p.organization_id = sqlc.arg(organization_id)
  and p.domain <> all(select lower(d) from unnest(sqlc.arg(domains)::text[]) d);
