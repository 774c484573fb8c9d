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

// inviteLinkKeyName may change. Then links that were sent before stop working, and pending mails get new links.
const inviteLinkKeyName = "invite-links"

const (
	// inviteMailKept is the time for which a mail waits for a server that does not accept it.
	inviteMailKept = 24 * time.Hour
	// mailsPerPerson limits the invite mails to one person in a day, from all organizations together.
	mailsPerPerson = 10
)

// allMails and mailsBy name rows of mail_counts. The rows of organizations and of invited people are named by their
// ids.
const allMails = "all"

func mailsBy(inviter string) string { return "by " + inviter }

// linkSecret returns the secret in a mail's link. It is derived from the mail's id. So every attempt sends the same
// link, although only its hash is stored.
func linkSecret(key []byte, mailID string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(mailID)) // A hash never fails to accept bytes.
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)))
}

func linkHash(secret string) []byte {
	hash := schema.HashToken([]byte(secret))
	return hash[:]
}

// newInviteMail returns the mail of an invite that is made now.
func (s *Store) newInviteMail() people.InviteMail {
	if s.config.InvitesByMail {
		return people.InviteMail{State: people.InviteMailWaiting}
	}
	return people.InviteMail{State: people.InviteMailOff, Reason: people.InviteMailsOff}
}

// addMails adds the mails of invites. People who log in through a provider need no link.
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
		hash := []byte{} // Becomes null.
		if linked {
			hash = linkHash(linkSecret(key, id))
		}
		invites.MailIds, invites.LinkHashes = append(invites.MailIds, id), append(invites.LinkHashes, hash)
	}
	return nil
}

// askForMails counts mails against the quotas of the organization and of the inviter. Then it enqueues the job that
// sends the mails. An invite that no user made counts for the organization's first administrator.
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

// MailInviteAgain sends a pending invite once more, with a new link and a new end. The link in the previous mail stops
// working.
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
	// MailID identifies the mail, and is the same at every attempt.
	MailID string
	// Organization and Inviter are names that users chose. The inviter may be unknown.
	Organization, Inviter string
	// Secret is for the link; "" if the person logs in through the provider.
	Secret string
}

// NextInviteMail returns an organization's next waiting mail, after the mail to a user. If there is none, the error
// is NotFound.
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
// limit of mails of all nodes is reached.
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

// InviteMailNotSent records why a mail was not sent. If the failure is final, or the mail has waited for a day, the
// mail has failed. Otherwise the mail waits for another attempt.
func (s *Store) InviteMailNotSent(ctx context.Context, m InviteToMail, reason string, final bool) error {
	return s.notSent(ctx, db.InviteMailNotSentParams{
		OrganizationID: m.OrganizationID, UserID: &m.UserID, MailID: &m.MailID, Reason: reason, Final: final,
	})
}

// InviteMailsNotSent is InviteMailNotSent for all waiting mails of an organization.
func (s *Store) InviteMailsNotSent(ctx context.Context, organizationID, reason string) error {
	return s.notSent(ctx, db.InviteMailNotSentParams{OrganizationID: organizationID, Reason: reason})
}

func (s *Store) notSent(ctx context.Context, p db.InviteMailNotSentParams) error {
	p.Kept = postgres.Interval(inviteMailKept)
	return postgres.Interpret(s.db.Planned.InviteMailNotSent(ctx, p), "invites")
}

// LinkedInvite is an invite in the view of a person who follows the link in its mail.
type LinkedInvite = db.InviteByLinkRow

// InviteByLink reads the invite of a link. A used, replaced or withdrawn invite is not found.
func (s *Store) InviteByLink(ctx context.Context, secret string) (LinkedInvite, error) {
	row, err := s.db.Queries.InviteByLink(ctx, linkHash(secret))
	if err != nil {
		return LinkedInvite{}, postgres.Interpret(err, "invite")
	}
	return row, stillGood(row.EmailInvite.ExpiresAt)
}

// AcceptInviteByLink makes the invited person a member. A new account gets its first token. If an account was already
// used, the link only proves that its owner can read mail to the address. So such an account gets no token, and token
// is "". name, if given, becomes the name of a new account.
func (s *Store) AcceptInviteByLink(ctx context.Context, secret string, name *string) (token string, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
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
