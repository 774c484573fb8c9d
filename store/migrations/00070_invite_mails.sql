-- Invites are sent by mail, with a link by which a person without an account becomes a member.

-- +goose Up
alter table email_invites
    -- off: no mail was asked for, since none could be sent. waiting: a job sends it. failed: it is not tried again.
    add column mail_state text not null default 'off' check (mail_state in ('off', 'waiting', 'sent', 'failed')),
    -- Names the mail: its Message-ID and the secret of its link are made of it, so that every attempt sends the same mail.
    add column mail_id text collate "C",
    -- Why the last attempt failed.
    add column mail_reason text,
    add column mail_asked_at timestamptz,
    add column mail_sent_at timestamptz,
    -- SHA-256 of the link's secret. Null has no link: no mail was sent, or people log in through the organization's provider.
    add column link_hash bytea unique;
create index email_invites_mail on email_invites (organization_id, user_id) where mail_state = 'waiting';

-- How many invites were sent by mail on a day: those that an organization asked for, and those that a person got.
create table mail_counts (
    -- The id of an organization or of a user.
    subject text collate "C" not null,
    day     date   not null,
    mails   bigint not null,
    primary key (subject, day)
);
create index mail_counts_day on mail_counts (day);

-- An account that an invite made and nobody has used yet. Whoever follows the link in the mail gets the first token of such an
-- account, and never one of another.
alter table users add column unclaimed boolean not null default false;
update users u set unclaimed = true
where exists (select from email_invites i where i.user_id = u.id)
  and not exists (select from tokens t where t.user_id = u.id)
  and not exists (select from memberships m where m.user_id = u.id);

-- Whatever lets somebody use the account claims it, wherever it is done.
-- +goose StatementBegin
create function claim_user() returns trigger language plpgsql as $$
begin
    update users set unclaimed = false where id = new.user_id and unclaimed;
    return null;
end
$$;
-- +goose StatementEnd
create trigger claim_user after insert on tokens for each row when (new.user_id is not null) execute function claim_user();
create trigger claim_user after insert on memberships for each row execute function claim_user();

-- +goose Down
drop trigger claim_user on memberships;
drop trigger claim_user on tokens;
drop function claim_user();
alter table users drop column unclaimed;
drop table mail_counts;
drop index email_invites_mail;
alter table email_invites
    drop column link_hash, drop column mail_sent_at, drop column mail_asked_at, drop column mail_reason, drop column mail_id,
    drop column mail_state;
