-- Front ends keep spaces with the address where readers find them, so they hear when that changes. And documents are found by the
-- OpenAPI specifications that they name, because readers of a site may read those that its pages show.

-- +goose Up

-- +goose StatementBegin
create function site_places_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(new.organization_id, 'space:' || l.space_id) from site_spaces l where l.site_id = new.id;
    return null;
end
$$;
-- +goose StatementEnd

-- A space that is deleted has its own word.
-- +goose StatementBegin
create function site_space_places_changed() returns trigger language plpgsql as $$
begin
    perform front_end_change(s.organization_id, 'space:' || s.id) from spaces s where s.id in (old.space_id, new.space_id);
    return null;
end
$$;
-- +goose StatementEnd

-- A section also decides how the address of a site space with its path is written. Site spaces that go with their section have
-- their own word.
-- +goose StatementBegin
create function site_section_places_changed() returns trigger language plpgsql as $$
declare
    r site_sections := coalesce(new, old);
begin
    perform front_end_change(s.organization_id, 'space:' || s.id)
    from site_spaces l join spaces s on s.id = l.space_id
    where l.section_id = r.id or l.site_id = r.site_id and l.path in (old.path, new.path);
    return null;
end
$$;
-- +goose StatementEnd

create trigger front_ends_hear_of_places after update on sites for each row
    when ((old.published, old.visibility, old.hostname, old.hostname_proved_at, old.proxy)
        is distinct from (new.published, new.visibility, new.hostname, new.hostname_proved_at, new.proxy))
    execute function site_places_changed();
create trigger front_ends_hear_of_places after insert or delete on site_spaces for each row execute function site_space_places_changed();
create trigger front_ends_hear_of_places_update after update on site_spaces for each row
    when ((old.space_id, old.section_id, old.path, old.is_default, old.condition)
        is distinct from (new.space_id, new.section_id, new.path, new.is_default, new.condition))
    execute function site_space_places_changed();
create trigger front_ends_hear_of_places after insert or delete on site_sections for each row execute function site_section_places_changed();
create trigger front_ends_hear_of_places_update after update on site_sections for each row
    when ((old.path, old.is_default, old.condition) is distinct from (new.path, new.is_default, new.condition))
    execute function site_section_places_changed();

-- The specifications that a document names. What cannot be read as JSON by Postgres, such as a text with NUL or one that nests too deep, names none.
-- +goose StatementBegin
create function specs_of_document(content bytea) returns setof text language plpgsql immutable as $$
begin
    if position('"openapi"'::bytea in content) > 0 then
        return query
            select distinct r.spec #>> '{}'
            from jsonb_path_query(convert_from(content, 'UTF8')::jsonb,
                'strict $.** ? (@.kind == "openapi").spec ? (@.type() == "string")', '{}', true) r (spec);
    end if;
exception when data_exception or program_limit_exceeded then
    return;
end
$$;
-- +goose StatementEnd

create table document_specs (
    space_id text collate "C" not null,
    hash     text collate "C" not null,
    slug     text collate "C" not null,
    primary key (space_id, hash, slug),
    foreign key (space_id, hash) references documents (space_id, hash) on delete cascade
);
create index document_specs_slug on document_specs (slug, space_id);

insert into document_specs (space_id, hash, slug)
select d.space_id, d.hash, spec.slug from documents d cross join specs_of_document(d.content) spec (slug)
where length(spec.slug) <= 100;

-- +goose StatementBegin
create function documents_stored() returns trigger language plpgsql as $$
begin
    insert into document_specs (space_id, hash, slug)
    select d.space_id, d.hash, spec.slug from stored d cross join specs_of_document(d.content) spec (slug)
    where length(spec.slug) <= 100; -- No specification has a longer one.
    return null;
end
$$;
-- +goose StatementEnd

create trigger specs_are_found after insert on documents referencing new table as stored
    for each statement execute function documents_stored();

-- +goose Down
drop trigger specs_are_found on documents;
drop function documents_stored;
drop table document_specs;
drop function specs_of_document;
drop trigger front_ends_hear_of_places_update on site_sections;
drop trigger front_ends_hear_of_places on site_sections;
drop trigger front_ends_hear_of_places_update on site_spaces;
drop trigger front_ends_hear_of_places on site_spaces;
drop trigger front_ends_hear_of_places on sites;
drop function site_section_places_changed;
drop function site_space_places_changed;
drop function site_places_changed;
