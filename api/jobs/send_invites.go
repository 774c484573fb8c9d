package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

// Mailer connects to the server that sends mails.
type Mailer interface {
	Open(ctx context.Context) (*mail.Connection, error)
}

// sendInvites sends the pending mails of an organization. If the process ends while a mail is transferred, the mail may
// be sent twice. Both copies have the same Message-ID and the same link. A problem with one mail does not delay other
// mails. A problem with the mail server delays all mails, and the list of invites shows the reason.
func sendInvites(ctx context.Context, d Deps, args schema.SendInvites) error {
	s := &inviteSending{deps: d, organization: args.Organization}
	defer s.close()
	for after := ""; ; {
		m, err := d.Store.Orgs.NextInviteMail(ctx, args.Organization, after)
		if schema.IsCode(err, schema.CodeNotFound) {
			return s.postponed()
		}
		if err == nil {
			err = s.send(ctx, m)
		}
		if err != nil {
			return err
		}
		after = m.UserID
	}
}

// inviteSending is one run of sendInvites. It sends the pending mails of one organization.
type inviteSending struct {
	deps         Deps
	organization string
	conn         *mail.Connection // conn is nil until the first mail is sent.
	waiting      int
}

func (s *inviteSending) close() {
	if s.conn != nil {
		s.conn.Close()
	}
}

// postponed returns an error if the mail server has refused mails temporarily. The job is then retried.
func (s *inviteSending) postponed() error {
	if s.waiting == 0 {
		return nil
	}
	return &schema.Error{Code: schema.CodeUnavailable, Message: fmt.Sprintf("%d mails wait: the list of invites says why", s.waiting)}
}

// send sends a mail and records the outcome. It returns an error only if no other mail can be sent now.
func (s *inviteSending) send(ctx context.Context, m orgs.InviteToMail) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	message, err := s.message(ctx, m)
	if err == nil {
		err = s.deps.Store.Orgs.MayMail(ctx, m.UserID)
	}
	if schema.IsCode(err, schema.CodeTooManyRequests) {
		return s.unable(ctx, errors.New(publicMessage(err)))
	}
	if schema.IsCode(err, schema.CodeForbidden) {
		return s.deps.Store.Orgs.InviteMailNotSent(ctx, m, publicMessage(err), true)
	}
	if err != nil {
		return err
	}
	failed := s.conn.Send(message)
	if failed == nil {
		// The server has accepted the mail. This is recorded even if the job's context has ended, so that the mail is
		// not sent again.
		return s.deps.Store.Orgs.InviteMailSent(context.WithoutCancel(ctx), m)
	}
	why, ok := errors.AsType[*mail.Error](failed)
	if !ok || !why.Reason.Mail {
		return s.unable(ctx, failed)
	}
	if !why.Reason.Final {
		s.waiting++
	}
	return s.deps.Store.Orgs.InviteMailNotSent(ctx, m, why.Error(), why.Reason.Final)
}

func (s *inviteSending) open(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	if s.deps.Mail == nil {
		return s.unable(ctx, errors.New("the node that ran the job has no OCTAVO_SMTP_URL"))
	}
	conn, err := s.deps.Mail.Open(ctx)
	if err != nil {
		return s.unable(ctx, err)
	}
	s.conn = conn
	return nil
}

// unable stores, in all mails of the organization, the reason why mails cannot be sent. Users see the text of `cause`.
func (s *inviteSending) unable(ctx context.Context, cause error) error {
	if ctx.Err() != nil { // The context has ended, so the error is not the mail server's.
		return ctx.Err()
	}
	if err := s.deps.Store.Orgs.InviteMailsNotSent(ctx, s.organization, cause.Error()); err != nil {
		return err
	}
	return &schema.Error{Code: schema.CodeUnavailable, Message: cause.Error(), Cause: cause}
}

func publicMessage(err error) string {
	public, _ := errors.AsType[*schema.Error](err)
	return public.Message
}
