-- Erasures that are done are kept for months: nothing that is asked each second, or of one site, reads them.
-- +goose Up
create index erasures_pending_site on erasures (site_id) where done_at is null;
create index erasures_done on erasures (log_until) where done_at is not null;

-- +goose Down
drop index erasures_done;
drop index erasures_pending_site;
