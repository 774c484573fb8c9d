-- What the Markdown of a comment makes, so that it is read as Markdown once.

-- +goose Up

create table comment_documents (
    comment_id text collate "C" primary key references comments (id) on delete cascade,
    -- Of the body that the document was made of: a program that does not know this table may change the body.
    body_hash  text  not null,
    document   jsonb not null
);

-- +goose Down
drop table comment_documents;
