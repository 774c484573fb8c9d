-- Postgres must not estimate how many pages match a search. If it expects most of them, it reads the whole table, and with it the
-- words of every page, which are kept out of line: ten times the time of the index. Without statistics it takes every search for
-- one that finds little.

-- +goose Up
-- Naming a type removes what is known of the column; with the same one, nothing is rewritten.
alter table search_pages alter column words type tsvector, alter column top type tsvector;
alter table search_pages alter column words set statistics 0, alter column top set statistics 0;

-- +goose Down
alter table search_pages alter column words set statistics -1, alter column top set statistics -1;
