-- Quotas count all invites of an organization, those to content too.

-- +goose Up
create index link_invites_quota on link_invites (organization_id);

-- +goose Down
drop index link_invites_quota;
