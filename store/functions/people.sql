-- These functions are for users and integrations.

-- claim_user marks a user's account as claimed when the user gets a token or a membership.
create or replace function claim_user() returns trigger language plpgsql as $$
begin
    update users set unclaimed = false where id = new.user_id and unclaimed;
    return null;
end
$$;
create or replace trigger claim_user after insert on tokens
    for each row when (new.user_id is not null) execute function claim_user();
create or replace trigger claim_user after insert on memberships for each row execute function claim_user();

-- keep_integration_script stores the former script of an integration. It is a trigger, because a trigger reads the row
-- after the row is locked. So of two concurrent publications, the second stores the script of the first.
create or replace function keep_integration_script() returns trigger language plpgsql as $$
begin
    insert into integration_scripts (integration, version, script) values (old.name, old.version, old.script);
    return null;
end
$$;
create or replace trigger integrations_script after update on integrations
    for each row when (old.version <> new.version) execute function keep_integration_script();
