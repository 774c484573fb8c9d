-- The functions in this folder are the access rule in SQL; api.RightsOf is the same rule in Go, and a model test compares both.
-- They are applied after the migrations at every start (store/migrate.go), before ../functions, so this is their current text. A
-- migration is needed only to change a signature, which takes a drop, or to keep older nodes from putting their own text back.
--
-- Postgres inlines most of them into the query that calls them and plans both as one, so they are plain selects.

-- The rank of a role, as schema.Role has it; a guest, whose role is null, has 0.
create or replace function role_rank(role text) returns integer language sql immutable
return coalesce(array_position(array['read', 'comment', 'edit', 'review', 'create', 'admin'], role), 0);

-- The rank of a member's role on a piece of content, 0 for no access: from the role in the organization, the level that holds
-- there, and the rank of the highest grant there and above.
create or replace function access_rank(role text, level text, grant_rank integer) returns integer language sql immutable
return case
    when role = 'admin' then 6
    else greatest(grant_rank, case
        when role is null or level is null then 0
        when level = 'inherit' then role_rank(role)
        else role_rank(level)
    end)
end;
