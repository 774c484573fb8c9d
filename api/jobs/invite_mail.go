package jobs

import (
	"context"
	html "html/template"
	"strings"
	text "text/template"

	"github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
)

// inviteFill has the values for the template of an invite's mail. Users choose the names Organization and Inviter, so
// view.ShownName has cleaned both.
type inviteFill struct {
	Organization, Inviter, Role string
	// Until is the time at which the invite expires; "" means never.
	Until string
	// Links has one link to our page, or one link for each provider by which the person can log in.
	Links []inviteLink
	SSO   bool
}

type inviteLink struct{ Label, URL string }

var inviteText = text.Must(text.New("text").Parse(
	`{{.Inviter}} invites you to {{.Organization}}{{with .Role}} with the role "{{.}}"{{end}}.

{{if .SSO}}Accept by logging in:{{else}}Look at the invitation and accept it:{{end}}
{{range .Links}}
{{with .Label}}{{.}}: {{end}}{{.URL}}
{{end}}
{{with .Until}}The invitation ends on {{.}}. {{end}}{{if not .SSO}}The link works once and is meant for you alone: do not pass it on.{{end}}
If you do not know what this is about, ignore this mail: nothing happens.
`))

var inviteHTML = html.Must(html.New("html").Parse(
	`<!doctype html>
<html lang="en"><body>
<p>{{.Inviter}} invites you to <strong>{{.Organization}}</strong>{{with .Role}} with the role “{{.}}”{{end}}.</p>
<p>{{if .SSO}}Accept by logging in:{{else}}Look at the invitation and accept it:{{end}}</p>
{{range .Links}}<p>{{with .Label}}{{.}}: {{end}}<a href="{{.URL}}">{{.URL}}</a></p>
{{end}}<p>{{with .Until}}The invitation ends on {{.}}. {{end}}{{if not .SSO}}The link works once and is meant for you alone: do not pass it on.{{end}}</p>
<p>If you do not know what this is about, ignore this mail: nothing happens.</p>
</body></html>
`))

// message returns the mail for an invite. An error concerns only this mail.
func (s *inviteSending) message(ctx context.Context, m orgs.InviteToMail) (mail.Message, error) {
	fill := inviteFill{
		Organization: view.ShownName(m.Organization, "an organization"), Inviter: view.ShownName(m.Inviter, "Somebody"),
		Role: string(schema.RoleFromNullable(m.Role)), SSO: m.Sso,
	}
	if m.ExpiresAt != nil {
		fill.Until = m.ExpiresAt.UTC().Format("2 January 2006, 15:04 UTC")
	}
	var err error
	if fill.Links, err = s.links(ctx, m); err != nil {
		return mail.Message{}, err
	}
	var plain, rich strings.Builder
	if err := inviteText.Execute(&plain, fill); err != nil {
		return mail.Message{}, schema.Internal(err)
	}
	if err := inviteHTML.Execute(&rich, fill); err != nil {
		return mail.Message{}, schema.Internal(err)
	}
	return mail.Message{
		ID: m.MailID + "@" + s.deps.View.Host(), To: m.Email, Subject: "Invitation to " + fill.Organization, Text: plain.String(), HTML: rich.String(),
	}, nil
}

// links returns the addresses at which the person accepts the invite: our page, or the login at each provider of the
// organization.
func (s *inviteSending) links(ctx context.Context, m orgs.InviteToMail) ([]inviteLink, error) {
	if !m.Sso {
		return []inviteLink{{URL: s.deps.View.InvitePage(m.Secret)}}, nil
	}
	logins, err := s.deps.Store.Orgs.SSOLogins(ctx, m.OrganizationID)
	if err != nil {
		return nil, err
	}
	if len(logins) == 0 {
		return nil, schema.Forbidden("the organization has no active provider to log in with: set one up and send the invite again")
	}
	links := make([]inviteLink, len(logins))
	for i, login := range logins {
		links[i] = inviteLink{Label: view.ShownName(login.Label, "Log in"), URL: s.deps.View.SAMLService(m.OrganizationID, login.ID).StartURL}
	}
	return links, nil
}
