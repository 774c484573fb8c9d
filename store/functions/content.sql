-- These functions are for content: collections, pages, change requests, and the specifications to which documents
-- refer.

-- collection_depth sets the depth of a collection whose parent changes. collection_depth_below then updates the depths
-- of the collections below it.
create or replace function collection_depth() returns trigger language plpgsql as $$
begin
    new.depth := coalesce((select p.depth + 1 from collections p where p.id = new.parent_id), 1);
    return new;
end
$$;
create or replace trigger collection_depth before insert or update of parent_id on collections
    for each row execute function collection_depth();

create or replace function collection_depth_below() returns trigger language plpgsql as $$
begin
    update collections c set depth = new.depth + 1 where c.parent_id = new.id;
    return null;
end
$$;
create or replace trigger collection_depth_below after update on collections
    for each row when (old.depth <> new.depth) execute function collection_depth_below();

-- pages_of returns the pages of a revision: the pages of its branch, and the unchanged pages of its base. Postgres
-- inlines the function into the calling query. Its body is text, so that it also returns columns that later migrations
-- add.
create or replace function pages_of(of_space text, of_revision text)
    returns setof branch_pages language sql stable as $$
    select p.*
    from revisions r join branch_pages p on p.branch = r.branch and p.since <= r.seq and p.until > r.seq
    where r.id = of_revision and r.space_id = of_space and not p.deleted
    union all
    select p.*
    from revisions r join branch_pages p on p.branch = r.base and p.since <= r.base_seq and p.until > r.base_seq
    where r.id = of_revision and r.space_id = of_space and not p.deleted and not exists (
        select from branch_pages own
        where own.branch = r.branch and own.page_id = p.page_id and own.since <= r.seq and own.until > r.seq)
$$;

-- change_requests_like returns the change requests that match a list's filters. A filter that is null matches every
-- request.
create or replace function change_requests_like(
    of_statuses text[], of_creator text, of_cluster text, of_contributor text, of_reviewer text
) returns setof change_requests language sql stable as $$
    select c.*
    from change_requests c
    where (of_statuses is null or c.status = any(of_statuses))
      and (of_creator is null or c.created_by = of_creator)
      and (of_cluster is null or c.cluster_id = of_cluster)
      and (of_contributor is null or exists (
          select 1 from change_request_contributors x where x.change_request_id = c.id and x.user_id = of_contributor))
      and (of_reviewer is null or exists (
          select 1 from change_request_reviewers x where x.change_request_id = c.id and x.user_id = of_reviewer))
$$;

-- specs_of_document returns the slugs of the specifications to which a document refers. It returns no rows if Postgres
-- cannot read the document as JSON, for example because the text contains NUL or has too many levels.
create or replace function specs_of_document(content bytea) returns setof text language plpgsql immutable as $$
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

create or replace function documents_stored() returns trigger language plpgsql as $$
begin
    insert into document_specs (space_id, hash, slug)
    select d.space_id, d.hash, spec.slug from stored d cross join specs_of_document(d.content) spec (slug)
    where length(spec.slug) <= 100; -- a longer text is no slug of a specification
    return null;
end
$$;
create or replace trigger specs_are_found after insert on documents referencing new table as stored
    for each statement execute function documents_stored();
