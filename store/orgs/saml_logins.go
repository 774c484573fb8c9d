package orgs

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// samlRequestKeyName is the name under which the key of SAMLRequestKey is stored. It may change. Then logins that were
// started before must be started again.
const samlRequestKeyName = "saml-request"

// SAMLRequestKey returns the installation's 32-byte key for signing login requests that browsers started.
func (s *Store) SAMLRequestKey(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, samlRequestKeyName)
}

// SAMLLogin is a login that the identity provider has confirmed.
type SAMLLogin struct {
	// Provider is the provider whose certificate verified the response.
	Provider SAMLProvider
	// RequestID is the id of the login request to which the response belongs. After RequestEnds, no response to this
	// request is accepted.
	RequestID   string
	RequestEnds time.Time
	NameID      string
	Email       string
	Name        string
	SessionEnds time.Time
	// ByCode is true if the browser must get a code instead of a token.
	ByCode bool
}

// LogInBySAML creates a session for the user who has logged in, and returns its token or code. Each login request
// creates only one session, even if several nodes get the response concurrently.
//
// The first login with a NameID chooses the user, and links the NameID of this provider to the user. Only this first
// login uses the e-mail address, and only if the organization has proved the address's domain. So an organization's
// provider cannot log in people of other organizations. If a user has the address, the NameID is linked to this user.
// Otherwise a new account is created. The user becomes a member by a pending invite, or with the provider's role and
// team. A user who is already a member keeps the role, but a pending invite can raise it.
func (s *Store) LogInBySAML(ctx context.Context, l SAMLLogin) (secret string, err error) {
	err = s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		now, err := q.LockActiveSAMLProvider(ctx, db.LockActiveSAMLProviderParams{ID: l.Provider.ID, OrganizationID: l.Provider.OrganizationID})
		if err != nil {
			return postgres.Interpret(err, "SAML provider")
		}
		if postgres.Deref(now.EntityID) != postgres.Deref(l.Provider.EntityID) ||
			postgres.Deref(now.Certificate) != postgres.Deref(l.Provider.Certificate) {
			return schema.Conflict("the SAML provider was changed meanwhile: start again")
		}
		n, err := q.InsertSAMLAnswerOnce(ctx, db.InsertSAMLAnswerOnceParams{
			ProviderID: now.ID, RequestID: l.RequestID, ExpiresAt: l.RequestEnds,
		})
		if err != nil {
			return postgres.Interpret(err, "login")
		}
		if n == 0 {
			return schema.BadRequest("this login was used already: start again")
		}
		userID, err := q.SAMLIdentity(ctx, db.SAMLIdentityParams{ProviderID: now.ID, NameID: l.NameID})
		if errors.Is(err, pgx.ErrNoRows) {
			userID, err = s.identify(ctx, q, now, l)
		}
		if err == nil { // until here, the audit log has no user as the actor
			err = postgres.ActAs(ctx, tx, userID)
		}
		if err != nil {
			return postgres.Interpret(err, "login")
		}
		secret, err = newSession(ctx, q, db.InsertSessionParams{
			ProviderID: now.ID, OrganizationID: now.OrganizationID, UserID: userID, ExpiresAt: l.SessionEnds,
		}, l.ByCode)
		return err
	})
	return secret, err
}

// identify returns the user of a NameID that is not linked yet, and links it.
func (s *Store) identify(ctx context.Context, q *db.Queries, p SAMLProvider, l SAMLLogin) (userID string, err error) {
	if l.Email == "" {
		return "", schema.Forbidden("the identity provider does not say which e-mail address you have")
	}
	at := strings.LastIndexByte(l.Email, '@')
	owned, err := q.OrganizationOwnsDomain(ctx, db.OrganizationOwnsDomainParams{
		OrganizationID: p.OrganizationID, Domain: strings.ToLower(l.Email[at+1:]),
	})
	if err != nil {
		return "", postgres.Interpret(err, "email domain")
	}
	if at < 1 || !owned {
		return "", schema.Forbidden("the domain of your e-mail address is not proved to be this organization's: ask an admin to add it to the organization's e-mail domains and to prove it")
	}
	name := l.Name
	if name == "" {
		name = l.Email[:at]
	}
	err = q.InsertUsersOnce(ctx, db.InsertUsersOnceParams{Ids: []string{schema.NewID()}, Names: []string{name}, Emails: []string{l.Email}})
	if err != nil {
		return "", postgres.Interpret(err, "user")
	}
	user, err := q.UserByEmail(ctx, l.Email)
	if err != nil {
		return "", postgres.Interpret(err, "user")
	}
	if err := s.admitBySAML(ctx, q, p, user.ID); err != nil {
		return "", err
	}
	err = q.InsertSAMLIdentityOnce(ctx, db.InsertSAMLIdentityOnceParams{
		ProviderID: p.ID, NameID: l.NameID, OrganizationID: p.OrganizationID, UserID: user.ID,
	})
	if err != nil {
		return "", postgres.Interpret(err, "identity")
	}
	// If two first logins ran concurrently, the identity that was stored first is used.
	userID, err = q.SAMLIdentity(ctx, db.SAMLIdentityParams{ProviderID: p.ID, NameID: l.NameID})
	return userID, postgres.Interpret(err, "identity")
}

// admitBySAML makes a user a member of the provider's organization: by a pending invite, or with the provider's role
// and team.
func (s *Store) admitBySAML(ctx context.Context, q *db.Queries, p SAMLProvider, userID string) error {
	var invited *string
	invite, err := q.TakeEmailInvite(ctx, db.TakeEmailInviteParams{OrganizationID: p.OrganizationID, UserID: userID})
	switch {
	case err == nil && stillGood(invite.ExpiresAt) == nil:
		invited = invite.Role
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return postgres.Interpret(err, "invite")
	}
	n, err := q.InsertMembershipOnce(ctx, db.InsertMembershipOnceParams{
		UserID: userID, OrganizationID: p.OrganizationID, Role: cmp.Or(invited, p.DefaultRole), Sso: true,
	})
	// If the user is already a member, the role of the invite is granted here, because the invite is deleted.
	if err == nil && n == 0 && invited != nil {
		_, err = raiseMembership(ctx, q, userID, p.OrganizationID, invited, true)
	}
	if err != nil || n == 0 {
		return postgres.Interpret(err, "membership")
	}
	if p.DefaultTeamID != nil {
		err := q.InsertTeamMembers(ctx, db.InsertTeamMembersParams{TeamID: *p.DefaultTeamID, Users: []string{userID}, Role: TeamMember})
		if err != nil {
			return postgres.Interpret(err, "team")
		}
	}
	return s.db.Within(ctx, q, postgres.QuotaMembers, p.OrganizationID)
}
