package orgs

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// inviteLinkKeyName is the name of a key. The secrets of invite links are derived from this key. A release may change
// the name. Then links that were sent before stop working, and pending mails get new links.
const inviteLinkKeyName = "invite-links"

const (
	// inviteMailKept is the longest time for which a mail waits for the mail server to accept it.
	inviteMailKept = 24 * time.Hour
	// mailsPerPerson is the largest number of invite mails to one person in a day, from all organizations together.
	mailsPerPerson = 10
)

// allMails is the subject of the row in mail_counts that counts all mails. mailsBy returns the subject of the row that
// counts the mails of one inviter. The subject of an organization or an invited person is their id.
const allMails = "all"

func mailsBy(inviter string) string { return "by " + inviter }

// linkSecret returns the secret in a mail's link. It is derived from the mail's id. So every attempt sends the same
// link, although only the hash of the secret is stored.
func linkSecret(key []byte, mailID string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(mailID)) // writing to a hash never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)))
}

func linkHash(secret string) []byte {
	hash := schema.HashToken([]byte(secret))
	return hash[:]
}

// newInviteMail returns the state of a new invite's mail.
func (s *Store) newInviteMail() people.InviteMail {
	if s.config.InvitesByMail {
		return people.InviteMail{State: people.InviteMailWaiting}
	}
	return people.InviteMail{State: people.InviteMailOff, Reason: people.InviteMailsOff}
}

// addMails sets, in the rows of the table email_invites, the columns about the invitation mails. People who must log in
// through a SAML provider get a mail without a link.
func (s *Store) addMails(ctx context.Context, invites *db.InviteUsersParams, sso bool) error {
	invites.MailState = string(s.newInviteMail().State)
	linked := s.config.InvitesByMail && !sso
	var key []byte
	if linked {
		var err error
		if key, err = s.db.Key(ctx, inviteLinkKeyName); err != nil {
			return err
		}
	}
	for range invites.Emails {
		id := schema.NewID()
		hash := []byte{} // the statement stores an empty hash as null
		if linked {
			hash = linkHash(linkSecret(key, id))
		}
		invites.MailIds, invites.LinkHashes = append(invites.MailIds, id), append(invites.LinkHashes, hash)
	}
	return nil
}

// askForMails adds n mails to the counts of the organization and of the inviter, and checks their quotas. Then it
// enqueues the job that sends the mails. If no user made the invite, the organization's first administrator is regarded
// as the inviter.
func (s *Store) askForMails(ctx context.Context, q *db.Queries, organizationID string, n int) error {
	if !s.config.InvitesByMail || n == 0 {
		return nil
	}
	maker, err := q.MakerOf(ctx, db.MakerOfParams{UserID: postgres.ActingUser(ctx), Organization: organizationID})
	if err != nil {
		return postgres.Interpret(err, "mails")
	}
	for _, counted := range []struct {
		postgres.Quota
		subject string
	}{{postgres.QuotaInviteMails, organizationID}, {postgres.QuotaUserMails, mailsBy(maker)}} {
		_, err := q.CountMails(ctx, db.CountMailsParams{Subject: counted.subject, Mails: int64(n)})
		if err := postgres.Interpret(err, "mails"); err != nil {
			return err
		}
		if err := s.db.Within(ctx, q, counted.Quota, counted.subject); err != nil {
			return err
		}
	}
	return postgres.Enqueue(ctx, q, schema.SendInvites{Organization: organizationID})
}

// MailInviteAgain makes a job send a pending invite again, with a new link and a new expiry. The link in the previous
// mail stops working.
func (s *Store) MailInviteAgain(ctx context.Context, organizationID, userID string) (EmailInvite, error) {
	if !s.config.InvitesByMail {
		return EmailInvite{}, schema.Conflict(people.InviteMailsOff)
	}
	key, err := s.db.Key(ctx, inviteLinkKeyName)
	if err != nil {
		return EmailInvite{}, err
	}
	var invite EmailInvite
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		id := schema.NewID()
		invite, err = q.MailInviteAgain(ctx, db.MailInviteAgainParams{
			OrganizationID: organizationID, UserID: userID, MailID: id,
			LinkHash: linkHash(linkSecret(key, id)), Lasts: s.inviteLasts(),
		})
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		return s.askForMails(ctx, q, organizationID, 1)
	})
	return invite, err
}

// InviteToMail is an invite whose mail is pending.
type InviteToMail struct {
	EmailInvite
	// MailID identifies the mail. It is the same at every attempt to send the mail.
	MailID string
	// Organization and Inviter are names that users have chosen. Inviter is "" if the inviter is unknown.
	Organization, Inviter string
	// Secret is the secret in the link. It is "" if the person must log in through a SAML provider.
	Secret string
}

// NextInviteMail returns an organization's next waiting mail, in the order of the recipients' ids, after the id
// `after`. It returns not_found if no mail is waiting.
func (s *Store) NextInviteMail(ctx context.Context, organizationID, after string) (InviteToMail, error) {
	key, err := s.db.Key(ctx, inviteLinkKeyName)
	if err != nil {
		return InviteToMail{}, err
	}
	row, err := s.db.Queries.NextInviteMail(ctx, db.NextInviteMailParams{OrganizationID: organizationID, After: after})
	if err != nil {
		return InviteToMail{}, postgres.Interpret(err, "mail")
	}
	next := InviteToMail{
		EmailInvite: row.EmailInvite, MailID: postgres.Deref(row.EmailInvite.MailID), Organization: row.Title,
		Inviter: row.Inviter,
	}
	if !row.EmailInvite.Sso {
		next.Secret = linkSecret(key, next.MailID)
	}
	return next, nil
}

// MayMail returns Forbidden if today's limit of mails to this person is reached. It returns TooManyRequests if today's
// limit of mails to all people is reached.
func (s *Store) MayMail(ctx context.Context, userID string) error {
	today := func(subject string) (int64, error) {
		n, err := s.db.Queries.MailsToday(ctx, subject)
		if err = postgres.Interpret(err, "mails"); schema.IsCode(err, schema.CodeNotFound) {
			return 0, nil
		}
		return n, err
	}
	all, err := today(allMails)
	if err != nil {
		return err
	}
	if all >= s.db.Bound(postgres.QuotaAllMails) {
		return schema.TooManyRequests("as many invites were sent by mail today as this service may send: they wait", 0)
	}
	person, err := today(userID)
	if err != nil {
		return err
	}
	if person >= mailsPerPerson {
		return schema.Forbidden("this address got as many invites today as one address may: send it again tomorrow")
	}
	return nil
}

// InviteMailSent records that a mail was sent.
func (s *Store) InviteMailSent(ctx context.Context, m InviteToMail) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		err := q.InviteMailSent(ctx, db.InviteMailSentParams{
			OrganizationID: m.OrganizationID, UserID: m.UserID, MailID: m.MailID,
		})
		for _, subject := range []string{m.UserID, allMails} {
			if err == nil {
				_, err = q.CountMails(ctx, db.CountMailsParams{Subject: subject, Mails: 1})
			}
		}
		return postgres.Interpret(err, "invite")
	})
}

// InviteMailNotSent records why a mail was not sent. If `final` is true, or if the mail has waited for a day, the mail
// is marked as failed. Otherwise it waits for another attempt.
func (s *Store) InviteMailNotSent(ctx context.Context, m InviteToMail, reason string, final bool) error {
	return s.notSent(ctx, db.InviteMailNotSentParams{
		OrganizationID: m.OrganizationID, UserID: &m.UserID, MailID: &m.MailID, Reason: reason, Final: final,
	})
}

// InviteMailsNotSent records why the waiting mails of an organization were not sent. Mails that have waited for a day
// are marked as failed.
func (s *Store) InviteMailsNotSent(ctx context.Context, organizationID, reason string) error {
	return s.notSent(ctx, db.InviteMailNotSentParams{OrganizationID: organizationID, Reason: reason})
}

func (s *Store) notSent(ctx context.Context, p db.InviteMailNotSentParams) error {
	p.Kept = postgres.Interval(inviteMailKept)
	return postgres.Interpret(s.db.Planned.InviteMailNotSent(ctx, p), "invites")
}

// LinkedInvite is an invite in the form in which a person who follows the link sees it.
type LinkedInvite = db.InviteByLinkRow

// InviteByLink reads the invite of a link. It returns not_found if the invite was accepted, replaced or deleted.
func (s *Store) InviteByLink(ctx context.Context, secret string) (LinkedInvite, error) {
	row, err := s.db.Queries.InviteByLink(ctx, linkHash(secret))
	if err != nil {
		return LinkedInvite{}, postgres.Interpret(err, "invite")
	}
	return row, stillGood(row.EmailInvite.ExpiresAt)
}

// AcceptInviteByLink makes the invited person a member. A new account gets its first token. An account that was already
// used gets no token, and the returned token is "". The link proves only that a person can read the address's mail. If
// `name` is set, it becomes the name of a new account.
func (s *Store) AcceptInviteByLink(ctx context.Context, secret string, name *string) (token string, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		invitee, err := q.InviteeOfLink(ctx, linkHash(secret))
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		if _, err := lockInvitee(ctx, q, invitee.UserID, invitee.OrganizationID); err != nil {
			return err
		}
		invite, err := q.TakeInviteByLink(ctx, linkHash(secret))
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		if err := stillGood(invite.ExpiresAt); err != nil {
			return err
		}
		claimed, err := q.ClaimUser(ctx, db.ClaimUserParams{ID: invite.UserID, DisplayName: name})
		if err != nil {
			return postgres.Interpret(err, "user")
		}
		_, err = raiseMembership(ctx, q, invite.UserID, invite.OrganizationID, invite.Role, invite.Sso)
		if err != nil {
			return err
		}
		if claimed == 0 {
			return nil
		}
		token = schema.NewToken()
		_, err = postgres.InsertToken(ctx, q, token, db.InsertTokenParams{
			ID: schema.NewID(), Kind: string(schema.TokenUser), Name: "accepted invite", UserID: &invite.UserID,
		})
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}
