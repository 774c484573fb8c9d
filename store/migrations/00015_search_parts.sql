-- +goose Up

-- The words of long pages in parts, because Postgres takes 1 MiB of words in a row. A page is found if its parts have
-- all words together. Short pages have no parts: search_pages has all of their words.
create table search_parts (
    space_id text collate "C" not null,
    page_id  text collate "C" not null,
    part     integer  not null,
    words    tsvector not null,
    primary key (space_id, page_id, part),
    foreign key (space_id, page_id) references search_pages (space_id, page_id) on delete cascade
);
create index search_parts_words on search_parts using gin (words) with (fastupdate = off);
alter table search_parts alter column words set statistics 0, alter column words set storage external;

-- Words hardly compress, and are read a third faster without compression.
alter table search_pages alter column words set storage external;

-- The spaces with long pages are indexed again: Migrate asks for the jobs. Until then they are found as before.
update search_spaces i set revision = '', target = '', reached = ''
where exists (
    select from search_pages p join documents d on d.space_id = p.space_id and d.hash = p.document
    where p.space_id = i.space_id and octet_length(d.content) > 65536
);
