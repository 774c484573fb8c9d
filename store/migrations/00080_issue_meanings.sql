-- What an issue means as a whole, for the analysis: a vector of signed bytes. It is null until an analysis with a model has made it.
-- +goose Up
alter table conversation_issues add column meaning bytea;

-- +goose Down
alter table conversation_issues drop column meaning;
