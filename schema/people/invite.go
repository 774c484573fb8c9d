package people

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Invited is the result of an invitation by e-mail. Users are the ids of the invited users, and Invited is their
// number. FailedSSOEmails has the addresses whose users should log in through a provider, if the organization has no
// provider. Mail says whether mails are sent. It is absent if nobody was invited.
type Invited struct {
	Users           []string    `json:"users"`
	Invited         int         `json:"invited"`
	FailedSSOEmails []string    `json:"failedSSOEmails"`
	Mail            *InviteMail `json:"mail,omitempty"`
}

// InviteMailState is the state of an invite's mail.
type InviteMailState string

// These are the states of a mail. A mail in the state `off` will not be sent, because no mail server was configured
// when the invite was made. A failed mail is sent again when a user requests it.
const (
	InviteMailOff     InviteMailState = "off"
	InviteMailWaiting InviteMailState = "waiting"
	InviteMailSent    InviteMailState = "sent"
	InviteMailFailed  InviteMailState = "failed"
)

// InviteMailStates are the values of a mail's `state`.
func InviteMailStates() []string {
	return []string{string(InviteMailOff), string(InviteMailWaiting), string(InviteMailSent), string(InviteMailFailed)}
}

// InviteMail is the mail of an invite. Reason explains why the mail is off, has failed, or is still waiting.
type InviteMail struct {
	State  InviteMailState `json:"state" rules:"enum=inviteMailState"`
	Reason string          `json:"reason,omitempty"`
	SentAt *time.Time      `json:"sentAt,omitempty"`
}

// InviteMailsOff is the reason of a mail in the state `off`.
const InviteMailsOff = "no mails are sent: the operator has not set OCTAVO_SMTP_URL. " +
	"Tell the person yourself: they accept with a token that the operator makes"

// LinkInvite gives access to everyone who follows a link: a role in the organization, or a level on a space or a
// collection. Either Role is set, or Level and a space or a collection. Redundant is true if the caller already has
// this access.
type LinkInvite struct {
	Object     string             `json:"object"`
	ID         string             `json:"id"`
	Role       *schema.Role       `json:"role,omitzero"`
	Level      *schema.Role       `json:"level,omitzero"`
	Redundant  bool               `json:"redundant"`
	Space      *schema.Space      `json:"space,omitzero"`
	Collection *schema.Collection `json:"collection,omitzero"`
	// ExpiresAt is absent if the link does not expire.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`

	location string
}

// At returns the invite with its address, which is in a header of the response and not in the body.
func (i LinkInvite) At(location string) LinkInvite {
	i.location = location
	return i
}

// Location returns the Location header of the response that creates the invite.
func (i LinkInvite) Location() string { return i.location }

// EmailInvite is an e-mail invite that nobody has accepted yet. For an invite to the organization, its ID is the
// invited user's ID.
type EmailInvite struct {
	Object    string      `json:"object"`
	ID        string      `json:"id"`
	Email     string      `json:"email"`
	Role      schema.Role `json:"role"`
	SSO       bool        `json:"sso"`
	CreatedAt time.Time   `json:"createdAt"`
	ExpiresAt *time.Time  `json:"expiresAt,omitempty"`
	// Mail is shown to the organization's admins.
	Mail *InviteMail `json:"mail,omitempty"`
	// Organization is shown to the invited user.
	Organization *InvitingOrganization `json:"organization,omitempty"`
}

// InvitingOrganization has the data of an organization that an invited user may see.
type InvitingOrganization struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}
