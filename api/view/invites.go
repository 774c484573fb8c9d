package view

import (
	"net/url"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
)

// LinkInvite returns the API form of an organization's invite link for a user. `held` is the user's role in the
// organization.
func (v Presenter) LinkInvite(held schema.Role, row orgs.LinkInvite) people.LinkInvite {
	role := schema.RoleFromNullable(row.Role)
	invite := people.LinkInvite{
		Object: "invite", ID: row.ID, Role: &role, Redundant: held.AtLeast(role), ExpiresAt: schema.UTC(row.ExpiresAt),
	}
	return invite.At(v.API("orgs", row.OrganizationID, "link-invites", row.ID))
}

// PendingInvite returns the API form of an invite by e-mail, for administrators of the organization.
func (v Presenter) PendingInvite(row orgs.EmailInvite) people.EmailInvite {
	invite := v.OwnInvite(row)
	mail := people.InviteMail{
		State: people.InviteMailState(row.MailState), Reason: schema.Or(row.MailReason, ""),
		SentAt: schema.UTC(row.MailSentAt),
	}
	if mail.State == people.InviteMailOff {
		mail.Reason = people.InviteMailsOff
	}
	invite.Mail = &mail
	return invite
}

// OwnInvite returns the API form of an invite by e-mail, for the invited person.
func (v Presenter) OwnInvite(row orgs.EmailInvite) people.EmailInvite {
	return people.EmailInvite{
		Object: "invite", ID: row.UserID, Email: row.Email, Role: schema.RoleFromNullable(row.Role), SSO: row.Sso,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: schema.UTC(row.ExpiresAt),
	}
}

// InvitePage returns the address at which a person with an invite's secret accepts the invite. The secret is in the
// query string, because logs contain paths.
func (v Presenter) InvitePage(secret string) string {
	return v.API("invites", "accept") + "?link=" + url.QueryEscape(secret)
}
