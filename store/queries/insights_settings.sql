-- name: InsightsSettings :one
select * from insights_settings where site_id = $1;

-- name: SetInsightsSettings :one
insert into insights_settings as s (site_id, timezone, week_start, hosts, respect_gpc)
values (
    sqlc.arg(site_id), coalesce(sqlc.narg(timezone)::text, 'UTC'), coalesce(sqlc.narg(week_start)::text, 'monday'),
    coalesce(sqlc.narg(hosts)::text[], '{}'), coalesce(sqlc.narg(respect_gpc)::boolean, true)
)
on conflict (site_id) do update set
    timezone = coalesce(sqlc.narg(timezone)::text, s.timezone),
    week_start = coalesce(sqlc.narg(week_start)::text, s.week_start),
    hosts = coalesce(sqlc.narg(hosts)::text[], s.hosts),
    respect_gpc = coalesce(sqlc.narg(respect_gpc)::boolean, s.respect_gpc)
returning *;

-- name: QueriedSite :one
-- Reads the facts about a site that queries need. Keys list hosts by name, or all hosts below a domain.
select s.hostname, i.timezone, i.week_start, coalesce(i.hosts, '{}')::text[] as hosts,
    coalesce((
        select array_agg(distinct h.host order by h.host)
        from publishable_keys k cross join unnest(k.hosts) as h (host)
        where k.site_id = s.id and h.host not like '*%'
    ), '{}')::text[] as key_hosts
from sites s left join insights_settings i on i.site_id = s.id
where s.id = $1;
