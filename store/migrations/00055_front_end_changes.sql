-- What front ends show and that has changed, so that they can be told. Rows stay until a job has told them, and a week at most.

-- +goose Up
create table front_end_changes (
    id              bigint generated always as identity primary key,
    -- There is no foreign key: organizations are deleted together with what changes.
    organization_id text collate "C" not null,
    -- What front ends call it: site:<id>, space:<id>, space:<id>:change-request:<id>, organization:<id>:openapi:<slug>.
    tag             text collate "C" not null,
    at              timestamptz      not null default clock_timestamp(),
    -- Whether a job was asked for.
    asked           boolean          not null default false,
    -- A transaction that changes a site in a hundred places leaves one row, and never waits for the row of another one.
    made_in         bigint           not null default pg_current_xact_id()::text::bigint,
    unique (organization_id, tag, made_in)
);

create index front_end_changes_new on front_end_changes (at) where not asked;
create index front_end_changes_asked on front_end_changes (organization_id, id) where asked;
create index front_end_changes_at on front_end_changes (at);

-- +goose StatementBegin
create function front_end_change(of_organization text, changed text) returns void language sql as $$
    insert into front_end_changes (organization_id, tag) values (of_organization, changed)
    on conflict (organization_id, tag, made_in) do nothing
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function sites_changed() returns trigger language plpgsql as $$
declare
    r sites := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'site:' || r.id);
    return null;
end
$$;
-- +goose StatementEnd

-- The rows of what is part of a site, which its column site_id names. Those that go together with their site need no word: the
-- site has had its own.
-- +goose StatementBegin
create function site_parts_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'site:' || s.id)
    from sites s where s.id = to_jsonb(coalesce(new, old)) ->> 'site_id';
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function site_space_customizations_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'site:' || s.id)
    from site_spaces l join sites s on s.id = l.site_id
    where l.id = (coalesce(new, old)).site_space_id;
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function spaces_changed() returns trigger language plpgsql as $$
declare
    r spaces := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'space:' || r.id);
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function change_requests_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(new.organization_id, 'space:' || new.space_id || ':change-request:' || new.id);
    return null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function openapi_specs_changed() returns trigger language plpgsql as $$
declare
    r openapi_specs := coalesce(new, old);
begin
    perform front_end_change(r.organization_id, 'organization:' || r.organization_id || ':openapi:' || r.slug);
    return null;
end
$$;
-- +goose StatementEnd

create trigger front_ends_hear after update or delete on sites for each row execute function sites_changed();
create trigger front_ends_hear after insert or update or delete on site_spaces for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_sections for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_section_groups for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on share_links for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_redirects for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_customizations for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_visitor_auth for each row execute function site_parts_changed();
create trigger front_ends_hear after insert or update or delete on site_space_customizations
    for each row execute function site_space_customizations_changed();
create trigger front_ends_hear after delete on spaces for each row execute function spaces_changed();
create trigger front_ends_hear_update after update on spaces for each row
    when ((old.revision, old.title, old.emoji, old.icon, old.language, old.visibility, old.git_sync)
        is distinct from (new.revision, new.title, new.emoji, new.icon, new.language, new.visibility, new.git_sync))
    execute function spaces_changed();
create trigger front_ends_hear after update on change_requests for each row
    when ((old.revision, old.status, old.subject) is distinct from (new.revision, new.status, new.subject))
    execute function change_requests_changed();
create trigger front_ends_hear after update or delete on openapi_specs for each row execute function openapi_specs_changed();

-- +goose Down
drop trigger front_ends_hear on openapi_specs;
drop trigger front_ends_hear on change_requests;
drop trigger front_ends_hear_update on spaces;
drop trigger front_ends_hear on spaces;
drop trigger front_ends_hear on site_space_customizations;
drop trigger front_ends_hear on site_visitor_auth;
drop trigger front_ends_hear on site_customizations;
drop trigger front_ends_hear on site_redirects;
drop trigger front_ends_hear on share_links;
drop trigger front_ends_hear on site_section_groups;
drop trigger front_ends_hear on site_sections;
drop trigger front_ends_hear on site_spaces;
drop trigger front_ends_hear on sites;
drop function openapi_specs_changed;
drop function change_requests_changed;
drop function spaces_changed;
drop function site_space_customizations_changed;
drop function site_parts_changed;
drop function sites_changed;
drop function front_end_change;
drop table front_end_changes;
