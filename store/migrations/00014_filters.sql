-- What filters of lists let through, for the several queries that list or count it.

-- +goose Up
-- +goose StatementBegin
-- Null filters let everything through. Like the functions of 00004_access.sql it is no more than a name.
create function change_requests_like(of_statuses text[], of_creator text, of_cluster text, of_contributor text, of_reviewer text)
    returns setof change_requests language sql stable as $$
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
-- +goose StatementEnd

-- +goose Down
drop function change_requests_like(text[], text, text, text, text);
