-- These functions are for sites. Every section, and the root of a site without sections, has a default site space.

-- promote_site_space chooses a new default site space after the default has left a section or the root. It chooses the
-- next site space in the section or root. If the former default was the last site space, it chooses the first.
create or replace function promote_site_space(site text, section text, after text) returns void language sql as $$
    update site_spaces set is_default = true
    where id = (select l.id from site_spaces l
                where l.site_id = site and l.section_id is not distinct from section
                order by l.rank < after, l.rank limit 1)
      and not exists (select from site_spaces l
                      where l.site_id = site and l.section_id is not distinct from section and l.is_default)
$$;

-- site_spaces_gone chooses a new default after the deletion of site spaces. This includes site spaces that are deleted
-- together with their space. It locks the site, so that it waits for transactions that are adding a site space.
create or replace function site_spaces_gone() returns trigger language plpgsql as $$
begin
    perform from sites where id in (select site_id from gone where is_default) for no key update;
    perform promote_site_space(site_id, section_id, rank) from gone where is_default;
    return null;
end
$$;
create or replace trigger site_spaces_gone after delete on site_spaces
    referencing old table as gone for each statement execute function site_spaces_gone();
