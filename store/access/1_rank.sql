-- The functions in this folder are the access rule in SQL. api.RightsOf is the same rule in Go. A model test compares
-- the two implementations. store/migrate.go applies these files at every start of a node, after the migrations and
-- before ../functions. To change a function's signature, add a migration that drops the function. The migration also
-- prevents older nodes from restoring their own version of the function.
--
-- Most of these functions are plain selects, so that Postgres inlines a function into the calling query, and makes one
-- plan.

-- role_rank returns the rank of a role, like the method Rank of schema.Role. A guest has a null role and the rank 0.
create or replace function role_rank(role text) returns integer language sql immutable
return coalesce(array_position(array['read', 'comment', 'edit', 'review', 'create', 'admin'], role), 0);

-- access_rank returns the rank of a member's role on a piece of content; 0 means no access. The inputs are the member's
-- role in the organization, the effective level, and the rank of the highest grant on the content and above.
create or replace function access_rank(role text, level text, grant_rank integer) returns integer language sql immutable
return case
    when role = 'admin' then 6
    else greatest(grant_rank, case
        when role is null or level is null then 0
        when level = 'inherit' then role_rank(role)
        else role_rank(level)
    end)
end;
