-- Discussions: comments with their replies and reactions, the reviewers that are asked for, and their reviews.

-- +goose Up

-- One row per person who is asked to review: asking again renews the row once the person has answered.
create table change_request_reviewers (
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id) on delete cascade,
    -- The content as it was when they were asked.
    revision          text        not null,
    requested_by      text collate "C" not null references users (id),
    created_at        timestamptz not null default now(),
    primary key (change_request_id, user_id)
);

create index change_request_reviewers_user on change_request_reviewers (user_id, change_request_id);

create table change_request_reviews (
    id                text collate "C" primary key,
    change_request_id text collate "C" not null references change_requests (id) on delete cascade,
    user_id           text collate "C" not null references users (id),
    revision          text        not null,
    -- Who had asked for it; null where nobody had.
    requested_by      text collate "C" references users (id),
    status            text        not null check (status in ('changes-requested', 'approved')),
    -- The same person reviewed again, or was asked to.
    superseded        boolean     not null default false,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
);

create index change_request_reviews_request on change_request_reviews (change_request_id, id);

-- At most one review of a person is not superseded.
create unique index change_request_reviews_newest on change_request_reviews (change_request_id, user_id) where not superseded;

-- Comments and replies are the same thing in two places: a reply is a comment with a parent.
create table comments (
    id                text collate "C" primary key,
    space_id          text collate "C" not null references spaces (id) on delete cascade,
    change_request_id text collate "C" references change_requests (id) on delete cascade,
    parent_id         text collate "C" references comments (id) on delete cascade,
    -- The one list that it stands in: the replies to a comment, or the comments on a change request or on a space.
    thread_id         text collate "C" not null generated always as (coalesce(parent_id, change_request_id, space_id)) stored,
    author_id         text collate "C" not null references users (id),
    -- As it was sent: Markdown or a document.
    body              jsonb       not null,
    -- The head of the content when it was posted, and the place in it.
    revision          text        not null,
    node_id           text,
    page_id           text,
    table_record      text,
    table_definition  text,
    review_id         text collate "C" references change_request_reviews (id) on delete set null,
    status            text        not null default 'open' check (status in ('open', 'resolved')),
    resolved_at       timestamptz,
    resolved_by       text collate "C" references users (id),
    -- How many rows have this one as their parent.
    replies           bigint      not null default 0,
    posted_at         timestamptz not null default now(),
    edited_at         timestamptz,
    check ((status = 'resolved') = (resolved_at is not null)),
    check ((status = 'resolved') = (resolved_by is not null)),
    check (parent_id is null or (status = 'open' and replies = 0)),
    check ((table_record is null) = (table_definition is null))
);

create index comments_thread on comments (thread_id, posted_at, id);
-- The lists that people look at: what is still open, and what is said about one page.
create index comments_thread_open on comments (thread_id, posted_at, id) where status = 'open';
create index comments_thread_page on comments (thread_id, page_id, posted_at, id) where page_id is not null;
-- For cascades: what goes away with a change request, a space, a comment or a review.
create index comments_space on comments (space_id);
create index comments_change_request on comments (change_request_id) where change_request_id is not null;
create index comments_parent on comments (parent_id) where parent_id is not null;
create index comments_review on comments (review_id) where review_id is not null;

create table comment_reactions (
    comment_id text collate "C" not null references comments (id) on delete cascade,
    user_id    text collate "C" not null references users (id) on delete cascade,
    emoji      text        not null,
    -- The order in which they came: several of one request have the same time.
    position   bigint generated always as identity,
    reacted_at timestamptz not null default now(),
    primary key (comment_id, user_id, emoji)
);

create index comment_reactions_comment on comment_reactions (comment_id, position);

-- Beside the open ones: together they are the length of the list. The statements that change comments change these in the
-- same transaction.
alter table spaces add column resolved_comments bigint not null default 0;
alter table change_requests add column resolved_comments bigint not null default 0;

-- +goose Down
alter table change_requests drop column resolved_comments;
alter table spaces drop column resolved_comments;
drop table comment_reactions;
drop table comments;
drop table change_request_reviews;
drop table change_request_reviewers;
