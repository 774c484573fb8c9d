-- What filters of lists let through, for the several queries that list or count it.

-- +goose Up
-- +goose StatementBegin
-- Null filters let everything through. Like the functions of 00004_access.sql it is no more than a name.
create function change_requests_like(statuses text[], creator text, cluster text, contributor text, reviewer text)
    returns setof change_requests language sql stable as $$
    select c.*
    from change_requests c
    where (statuses is null or c.status = any(statuses))
      and (creator is null or c.created_by = creator)
      and (cluster is null or c.cluster_id = cluster)
      and (contributor is null or exists (
          select 1 from change_request_contributors x where x.change_request_id = c.id and x.user_id = contributor))
      and (reviewer is null or exists (
          select 1 from change_request_reviewers x where x.change_request_id = c.id and x.user_id = reviewer))
$$;
-- +goose StatementEnd

-- +goose Down
drop function change_requests_like(text[], text, text, text, text);
