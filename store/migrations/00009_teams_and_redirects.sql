-- +goose Up
-- Titles of teams are unique in an organization. A team whose title an older team has gets a number behind the title.
-- +goose StatementBegin
do $$
declare
    t record;
    n integer;
    wanted text;
begin
    for t in
        select d.id, d.organization_id, d.title from (
            select teams.*, row_number() over (partition by organization_id, title order by id) as nth from teams
        ) d
        where d.nth > 1
        order by d.id
    loop
        n := 2;
        loop
            wanted := left(t.title, 61 - length(n::text)) || ' (' || n || ')';
            exit when not exists (
                select from teams o where o.organization_id = t.organization_id and o.title = wanted
            );
            n := n + 1;
        end loop;
        update teams set title = wanted where id = t.id;
    end loop;
end
$$;
-- +goose StatementEnd
create unique index teams_title on teams (title, organization_id);

-- A draft of a redirect leads nowhere until it is published.
alter table site_redirects add column draft boolean not null default false;
