-- These triggers record changes for front ends. In the transaction of a change, a trigger inserts a row into
-- front_end_changes. Front ends cache spaces with their public URLs, so a trigger also records a change of a space's
-- URL.

create or replace function front_end_change(of_organization text, changed text) returns void language sql as $$
    insert into front_end_changes (organization_id, tag, counts_from) values (of_organization, changed, creation_time())
    on conflict (organization_id, tag, made_in) do nothing
$$;

create or replace function sites_changed() returns trigger language plpgsql as $$
declare
    r sites := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'site:' || r.id);
    return null;
end
$$;
create or replace trigger front_ends_hear after update or delete on sites for each row execute function sites_changed();

-- site_parts_changed records a change of a part of a site. The part's column site_id has the site. If a part is deleted
-- together with its site, the function records no row, because the trigger of the site's deletion records one.
create or replace function site_parts_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'site:' || s.id)
    from sites s where s.id = to_jsonb(coalesce(new, old)) ->> 'site_id';
    return null;
end
$$;
create or replace trigger front_ends_hear after insert or update or delete on site_spaces
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on site_sections
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on site_section_groups
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on share_links
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on site_redirects
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on site_customizations
    for each row execute function site_parts_changed();
create or replace trigger front_ends_hear after insert or update or delete on site_visitor_auth
    for each row execute function site_parts_changed();

create or replace function site_space_customizations_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'site:' || s.id)
    from site_spaces l join sites s on s.id = l.site_id
    where l.id = (coalesce(new, old)).site_space_id;
    return null;
end
$$;
create or replace trigger front_ends_hear after insert or update or delete on site_space_customizations
    for each row execute function site_space_customizations_changed();

create or replace function spaces_changed() returns trigger language plpgsql as $$
declare
    r spaces := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'space:' || r.id);
    return null;
end
$$;
create or replace trigger front_ends_hear after delete on spaces for each row execute function spaces_changed();
create or replace trigger front_ends_hear_update after update on spaces for each row
    when ((old.revision, old.title, old.emoji, old.icon, old.language, old.visibility, old.git_sync)
        is distinct from (new.revision, new.title, new.emoji, new.icon, new.language, new.visibility, new.git_sync))
    execute function spaces_changed();

create or replace function change_requests_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(new.organization_id, 'space:' || new.space_id || ':change-request:' || new.id);
    return null;
end
$$;
create or replace trigger front_ends_hear after update on change_requests for each row
    when ((old.revision, old.status, old.subject) is distinct from (new.revision, new.status, new.subject))
    execute function change_requests_changed();

-- openapi_specs_changed records changes that front ends show: the versions of a specification and its source. A fetch
-- without a new version is not recorded.
create or replace function openapi_specs_changed() returns trigger language plpgsql as $$
declare
    r openapi_specs := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'organization:' || r.organization_id || ':openapi:' || r.slug);
    return null;
end
$$;
create or replace trigger front_ends_hear after delete on openapi_specs
    for each row execute function openapi_specs_changed();
create or replace trigger front_ends_hear_update after update on openapi_specs for each row
    when ((old.last_version, old.source_url) is distinct from (new.last_version, new.source_url))
    execute function openapi_specs_changed();

create or replace function site_places_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(new.organization_id, 'space:' || l.space_id) from site_spaces l where l.site_id = new.id;
    return null;
end
$$;
create or replace trigger front_ends_hear_of_places after update on sites for each row
    when ((old.published, old.visibility, old.hostname, old.hostname_proved_at, old.proxy)
        is distinct from (new.published, new.visibility, new.hostname, new.hostname_proved_at, new.proxy))
    execute function site_places_changed();

-- site_space_places_changed records a change of a space's URL that is caused by the space's place in a site. If the
-- space itself is deleted, another trigger records the change.
create or replace function site_space_places_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'space:' || s.id)
    from spaces s where s.id in (old.space_id, new.space_id);
    return null;
end
$$;
create or replace trigger front_ends_hear_of_places after insert or delete on site_spaces
    for each row execute function site_space_places_changed();
create or replace trigger front_ends_hear_of_places_update after update on site_spaces for each row
    when ((old.space_id, old.section_id, old.path, old.is_default, old.condition)
        is distinct from (new.space_id, new.section_id, new.path, new.is_default, new.condition))
    execute function site_space_places_changed();

-- site_section_places_changed records changes of URLs that are caused by a section. The URLs are the URLs of the
-- section's spaces, and of site spaces with the same path as the section. If a site space is deleted together with its
-- section, the trigger of site_spaces records the change.
create or replace function site_section_places_changed() returns trigger language plpgsql as $$
declare
    r site_sections := coalesce(new, old);
begin
    perform front_end_change(s.organization_id, 'space:' || s.id)
    from site_spaces l join spaces s on s.id = l.space_id
    where l.section_id = r.id or l.site_id = r.site_id and l.path in (old.path, new.path);
    return null;
end
$$;
create or replace trigger front_ends_hear_of_places after insert or delete on site_sections
    for each row execute function site_section_places_changed();
create or replace trigger front_ends_hear_of_places_update after update on site_sections for each row
    when ((old.path, old.is_default, old.condition) is distinct from (new.path, new.is_default, new.condition))
    execute function site_section_places_changed();
