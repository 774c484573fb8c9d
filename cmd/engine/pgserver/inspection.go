package pgserver

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// inspection has the SQL statements that let Octavo's user look for lost pages of a table. Postgres regards a page of
// zeros as empty, because a table grows by such pages. But an index has no entry for a page that was never written. So
// a page of zeros with entries in an index is lost. The function reads pages through Postgres's cache. Only a superuser
// may read pages, so the function runs with a superuser's rights.
const inspection = `
create schema inspection;
create extension pageinspect schema inspection;
create function inspection.lost_pages(relation regclass) returns setof bigint
language plpgsql security definer set search_path = pg_catalog, inspection, pg_temp as $$
declare
	size bigint := current_setting('block_size')::bigint;
	zeros bigint[];
begin
	select array_agg(b) into zeros from generate_series(0, pg_relation_size(relation) / size - 1) b
	where (page_header(get_raw_page(relation::text, 'main', b))).upper = 0;
	if zeros is null then
		return;
	end if;
	return query select distinct (tid::text::point)[0]::bigint
	from pg_index i
		join pg_class c on c.oid = i.indexrelid
		join pg_am m on m.oid = c.relam and m.amname = 'btree',
		generate_series(1, pg_relation_size(c.oid) / size - 1) p,
		bt_page_stats(c.oid::regclass::text, p) s,
		bt_page_items(c.oid::regclass::text, p) e,
		unnest(coalesce(e.tids, array[e.htid])) tid
	where i.indrelid = relation and s.type = 'l' and e.dead is not true
		and (tid::text::point)[0]::bigint = any(zeros);
end $$;
revoke execute on function inspection.lost_pages from public;
grant usage on schema inspection to ` + appUser + `;
grant execute on function inspection.lost_pages to ` + appUser

// inspect creates the function lost_pages if the database does not have it. Without this function, `octavo verify`
// reports that it cannot look for lost pages.
func (s *Server) inspect(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url(superuser, s.secrets.Superuser, appDatabase))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var known bool
	err = conn.QueryRow(ctx, "select to_regprocedure('inspection.lost_pages(regclass)') is not null").Scan(&known)
	if err == nil && !known {
		_, err = conn.Exec(ctx, inspection)
	}
	return err
}
