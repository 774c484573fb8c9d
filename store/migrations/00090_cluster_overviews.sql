-- What a language model wrote about a cluster, how many issues the cluster had then, and whether the model gave it its title.

-- +goose Up
alter table issues_clusters
    add column overview        text not null default '',
    add column overview_issues int not null default 0,
    add column titled          boolean not null default false;

-- +goose Down
alter table issues_clusters drop column overview, drop column overview_issues, drop column titled;
