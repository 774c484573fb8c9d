package orgs

import (
	"context"
	"html/template"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
)

// invitePageLimit is the largest size of the page's form in bytes. The form that a browser sends is much smaller.
const invitePageLimit = 16 << 10

type showInvitePageRequest struct {
	Link *string `query:"link" rules:"required,len=1..200"`
}

type acceptInvitePageRequest struct {
	Link *string `query:"link" rules:"required,len=1..200"`
	Body struct {
		Name string `json:"name" rules:"len=0..100"`
	} `body:"form,optional"`
}

var invitePage = template.Must(template.New("invite").Parse(
	`<p>{{.Inviter}} invites you to <strong>{{.Title}}</strong>{{with .Role}} with the role “{{.}}”{{end}}, as {{.Email}}.</p>
<form method="post">
{{if .New}}<p><label>Your name, as others see it<br><input name="name" maxlength="100" autocomplete="name"></label></p>
<p>You get a token with which you use Octavo. It is shown once.</p>
{{else}}<p>You use the token that you already have.</p>
{{end}}<p><button>Accept</button></p>
</form>
`))

var acceptedPage = template.Must(template.New("accepted").Parse(
	`<p>You are a member of <strong>{{.Title}}</strong> now.</p>
{{if .Token}}<p><label>Your token. Keep it like a password: it is shown this once, and stands for you.<br>` +
		`<input readonly value="{{.Token}}" autocomplete="off"></label></p>
{{else}}<p>Your account was there before, so that there is no new token: use yours.</p>
{{end}}`))

// linkGone replaces the error "not found" by an error with an explanation. It does not reveal whether the link ever
// existed.
func linkGone(err error) error {
	if schema.IsCode(err, schema.CodeNotFound) {
		return &schema.Error{
			Code: schema.CodeNotFound, Message: "this link leads to no invite: it was used, a newer one was sent, or the invite was withdrawn. Ask for a new one",
		}
	}
	return err
}

// showPage shows the invite. It does not accept the invite, because programs that scan mails open links.
func (h *invites) showPage(ctx context.Context, _ *access.Caller, r *showInvitePageRequest) (frame.Page, error) {
	row, err := h.store.Orgs.InviteByLink(ctx, *r.Link)
	if err != nil {
		return frame.Page{}, linkGone(err)
	}
	return page("Invitation", invitePage, struct {
		Inviter, Title, Role, Email string
		New                         bool
	}{view.ShownName(row.Inviter, "Somebody"), view.ShownName(row.Title, "an organization"), string(schema.RoleFromNullable(row.EmailInvite.Role)), row.EmailInvite.Email, row.Unclaimed})
}

func (h *invites) acceptPage(ctx context.Context, _ *access.Caller, r *acceptInvitePageRequest) (frame.Page, error) {
	row, err := h.store.Orgs.InviteByLink(ctx, *r.Link)
	if err != nil {
		return frame.Page{}, linkGone(err)
	}
	var name *string
	if given := strings.TrimSpace(r.Body.Name); given != "" {
		name = &given
	}
	token, err := h.store.Orgs.AcceptInviteByLink(ctx, *r.Link, name)
	if err != nil {
		return frame.Page{}, linkGone(err)
	}
	return page("Welcome", acceptedPage, struct{ Title, Token string }{view.ShownName(row.Title, "the organization"), token})
}

func page(title string, body *template.Template, fill any) (frame.Page, error) {
	var b strings.Builder
	if err := body.Execute(&b, fill); err != nil {
		return frame.Page{}, schema.Internal(err)
	}
	return frame.Page{Title: title, Body: template.HTML(b.String())}, nil // html/template has escaped the text.
}
