-- +goose Up

-- The index has the words that all visitors see of pages with conditional text. All spaces are indexed again: Migrate
-- asks for the jobs.
update search_spaces set revision = '', target = '', reached = '';
