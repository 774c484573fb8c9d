-- Clusters that stay: each keeps what it is about, and a history of what came to it and left it.
-- +goose Up
alter table conversation_issues
    add column language    text not null default '',
    -- Equal for issues that are about the same words; empty for those of earlier versions.
    add column fingerprint text not null default '';
create index conversation_issues_fingerprint on conversation_issues (organization_id, fingerprint, id);

alter table issues_clusters
    add column language text    not null default '',
    -- What its issues are about, for the next analysis; null until one has been at work on it.
    add column profile  jsonb,
    -- The subject that it belongs to, with others of different problems; null if it shows none.
    add column theme    text,
    -- Whether issues left it since its numbers were counted.
    add column stale    boolean not null default true;
create index issues_clusters_stale on issues_clusters (organization_id) where stale;

-- Why an issue is in the cluster that it is in, and how the cluster came to its label. Rows are only added.
create table issues_cluster_events (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    cluster_id      text collate "C" not null references issues_clusters (id) on delete cascade,
    kind            text        not null check (kind in ('joined', 'left', 'merged', 'renamed')),
    -- Of joined and left. The issue may be gone since.
    issue_id        text collate "C",
    conversation_id text collate "C",
    -- The issue's title, the label of the cluster that was taken in, or the former label.
    title           text        not null,
    reason          text        not null,
    created_at      timestamptz not null
);
create index issues_cluster_events_cluster on issues_cluster_events (cluster_id, id);
create index issues_cluster_events_organization on issues_cluster_events (organization_id);

create index change_requests_cluster on change_requests (organization_id, cluster_id, id) where cluster_id is not null;

-- +goose Down
drop index change_requests_cluster;
drop table issues_cluster_events;
drop index issues_clusters_stale;
alter table issues_clusters drop column language, drop column profile, drop column theme, drop column stale;
drop index conversation_issues_fingerprint;
alter table conversation_issues drop column language, drop column fingerprint;
