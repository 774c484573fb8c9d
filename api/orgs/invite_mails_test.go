package orgs_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/remote/mail/mailtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

const publicBase = "https://docs.example.com/base"

var inviteLink = regexp.MustCompile(`https://docs\.example\.com/base(/v1/invites/accept\?link=[a-z2-7]{52})`)

// linkIn returns the path of the link in a mail. The text and the HTML of the mail must have the same link.
func linkIn(t *testing.T, m mailtest.Mail) string {
	t.Helper()
	inText, inHTML := inviteLink.FindAllStringSubmatch(m.Text, -1), inviteLink.FindAllStringSubmatch(html.UnescapeString(m.HTML), -1)
	if len(inText) != 1 || len(inHTML) != 2 || inText[0][1] != inHTML[0][1] || inHTML[0][1] != inHTML[1][1] {
		t.Fatalf("links of a mail: %v %v in\n%s", inText, inHTML, m.Text)
	}
	return inText[0][1]
}

// pending returns the id of the pending invite to an address, and the state of its mail, as an admin sees them.
func pending(s apitest.Support, email string) (id, line string) {
	s.H.T.Helper()
	for _, item := range s.H.Want(200, "GET", s.Org+"/invites", s.Token, nil)["items"].([]any) {
		if invite := item.(map[string]any); invite["email"] == email {
			return invite["id"].(string), apitest.Line(invite, "mail.state", "mail.reason")
		}
	}
	s.H.T.Fatalf("%s is not invited", email)
	return "", ""
}

func wantMail(s apitest.Support, email, want string) {
	s.H.T.Helper()
	if _, line := pending(s, email); line != want {
		s.H.T.Errorf("the mail to %s is %s, want %s", email, line, want)
	}
}

var browser = []string{"Accept", "text/html"}

// TestInviteIsMailedAndAccepted invites a person, reads the mail, accepts the invite by the link in it, and calls the
// API with the new token.
func TestInviteIsMailedAndAccepted(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	server := mailtest.New(t, mailtest.Options{})
	invited := s.Invite(`{"emails":["ann@example.com"],"role":"edit"}`)
	if invited.Mail == nil || invited.Mail.State != people.InviteMailWaiting {
		t.Errorf("%+v", invited)
	}
	wantMail(s, "ann@example.com", "waiting <nil>")
	if failed := jobstest.RunMails(t, h.Store, server.Sender(t), publicBase); len(failed) != 0 {
		t.Fatalf("%+v", failed)
	}
	wantMail(s, "ann@example.com", "sent <nil>")
	mails := server.Mails()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	m := mails[0]
	if m.To != "ann@example.com" || m.Subject != "Invitation to ours" || !strings.Contains(m.Text, `with the role "edit"`) ||
		!regexp.MustCompile(`^<[a-zA-Z0-9_-]+@docs\.example\.com>$`).MatchString(m.Header.Get("Message-ID")) {
		t.Errorf("%s\n%s", m.Subject, m.Raw)
	}
	path := linkIn(t, m)
	if rows := h.Want(200, "GET", s.Org+"/invites", s.Token, nil); strings.Contains(apitest.Line(rows, "items"), path[len(path)-52:]) {
		t.Error("the list shows the secret")
	}

	// Opening the page does not change anything, however often.
	before := h.Rows()
	for range 2 {
		a := h.Do("GET", path, "", nil, browser...)
		if a.Status != 200 || !strings.Contains(string(a.Body), "ours") || !strings.Contains(string(a.Body), `<form method="post">`) || strings.Contains(string(a.Body), "<script") {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Error(a.Header)
		}
	}
	if after := h.Rows(); after["email_invites"] != before["email_invites"] || after["memberships"] != before["memberships"] || after["tokens"] != before["tokens"] {
		t.Error("a look changed something")
	}

	// If several requests accept the invite at the same time, exactly one request succeeds.
	var wait sync.WaitGroup
	pages := make([]apitest.Answer, 4)
	for i := range pages {
		wait.Go(func() { pages[i] = h.Do("POST", path, "", apitest.Form{Body: "name=Ann+%3Cb%3E"}, browser...) })
	}
	wait.Wait()
	var tokens []string
	for _, a := range pages {
		found := regexp.MustCompile(`value="(oct_[a-z2-7]+)"`).FindSubmatch(a.Body)
		if a.Status == 200 && found != nil {
			tokens = append(tokens, string(found[1]))
		} else if a.Status != 404 || !strings.Contains(string(a.Body), "This link leads to no invite") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if len(tokens) != 1 {
		t.Fatalf("%d tokens", len(tokens))
	}
	user := h.Want(200, "GET", "/v1/user", tokens[0], nil)
	if l := apitest.Line(user, "displayName", "email"); l != "Ann <b> ann@example.com" {
		t.Error(l)
	}
	if got := h.Want(200, "GET", s.Org+"/members/"+invited.Users[0], s.Token, nil); got["role"] != "edit" {
		t.Errorf("%v", got)
	}
	for _, method := range []string{"GET", "POST"} {
		var body any
		if method == "POST" {
			body = apitest.Form{}
		}
		if a := h.Do(method, path, "", body, browser...); a.Status != 404 || !strings.Contains(string(a.Body), "<h1>") {
			t.Errorf("a used link: %d %s", a.Status, a.Body)
		}
	}
}

// TestLinkGivesNoTokenOfAnAccountInUse: if an account is already in use, accepting an invite by a link gives no token.
// Otherwise anybody who can read a person's mail could act as this person.
func TestLinkGivesNoTokenOfAnAccountInUse(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	known, _ := storetest.User(t, h.Store, "known")
	revoked, err := h.Store.Orgs.CreateUser(t.Context(), orgs.NewUser{
		DisplayName: "Made by hand", Email: "hand@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh := s.Invite(`{"emails":["fresh@example.com"]}`).Users[0]
	storetest.Token(t, h.Store, store.NewToken{User: fresh})
	twice := s.Invite(`{"emails":["twice@example.com"]}`).Users[0]
	h.Want(200, "POST", "/v1/orgs/"+h.Theirs.Organization.ID+"/invites", h.Theirs.Tokens[schema.RoleAdmin], `{"emails":["twice@example.com"]}`)
	// Accepting by the first link gives the account its first token. When the second link is opened, the account is
	// already in use.
	theirs := h.InviteLink(h.Theirs, twice)
	if a := h.Do("POST", "/v1/invites/accept?link="+h.InviteLink(h.Ours, twice), "", apitest.Form{}); a.Status != 200 || !strings.Contains(string(a.Body), "oct_") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.Invite(`{"emails":["known@example.com","hand@example.com"],"role":"comment"}`)
	for user, link := range map[string]string{
		known.ID: h.InviteLink(h.Ours, known.ID), revoked.ID: h.InviteLink(h.Ours, revoked.ID), fresh: h.InviteLink(h.Ours, fresh), twice: theirs,
	} {
		a := h.Do("POST", "/v1/invites/accept?link="+link, "", apitest.Form{Body: "name=Somebody+else"})
		if a.Status != 200 || strings.Contains(string(a.Body), "oct_") || !strings.Contains(string(a.Body), "use yours") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if got, err := h.Store.Orgs.User(t.Context(), user); err != nil || got.DisplayName == "Somebody else" {
			t.Errorf("%+v %v", got, err)
		}
	}
	if role, member := h.Role(known.ID); !member || role != schema.RoleComment {
		t.Errorf("%s %v", role, member)
	}
}

// TestLinksEnd: the link in a mail ends when its invite ends, and when another mail with a new link is sent.
func TestLinksEnd(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	for name, end := range map[string]func(user string) (status int){
		"wrong":    func(string) int { return 404 },
		"revoked":  func(user string) int { h.Want(204, "DELETE", s.Org+"/invites/"+user, s.Token, nil); return 404 },
		"replaced": func(user string) int { h.Want(200, "POST", s.Org+"/invites/"+user+"/resend", s.Token, nil); return 404 },
		"again":    func(user string) int { s.Invite(`{"emails":["again@example.com"]}`); return 404 },
		"expired": func(user string) int {
			h.Exec("update email_invites set expires_at = now() - interval '1 second' where user_id = $1", user)
			return 403
		},
		"accepted": func(user string) int { h.Accept(user); return 404 },
	} {
		user := s.Invite(`{"emails":["` + name + `@example.com"]}`).Users[0]
		path := "/v1/invites/accept?link=" + h.InviteLink(h.Ours, user)
		if name == "wrong" {
			path = path[:len(path)-1] + "!"
		}
		want := end(user)
		before := h.Rows()["memberships"]
		for _, a := range []apitest.Answer{h.Do("GET", path, "", nil, browser...), h.Do("POST", path, "", apitest.Form{}, browser...)} {
			if a.Status != want || !strings.Contains(string(a.Body), "<h1>") || strings.Contains(string(a.Body), "oct_") {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
		if h.Rows()["memberships"] != before {
			t.Errorf("%s: somebody became a member", name)
		}
	}
}

// TestResend sends the mail of an invite again, until the limit of mails is reached.
func TestResend(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	server := mailtest.New(t, mailtest.Options{})
	user := s.Invite(`{"emails":["ann@example.com"]}`).Users[0]
	again := s.Org + "/invites/" + user + "/resend"
	for range 2 {
		shape.Want(t, emailInviteShape, h.Do("POST", again, s.Token, nil).Body)
		if failed := jobstest.RunMails(t, h.Store, server.Sender(t), publicBase); len(failed) != 0 {
			t.Fatalf("%+v", failed)
		}
	}
	mails := server.Mails()
	if len(mails) != 2 || mails[0].Header.Get("Message-ID") == mails[1].Header.Get("Message-ID") || linkIn(t, mails[0]) == linkIn(t, mails[1]) {
		t.Fatalf("%d mails", len(mails))
	}
	if a := h.Do("GET", linkIn(t, mails[1]), "", nil); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// The number of mails a day to one person, from all organizations together, is limited.
	h.Exec("update mail_counts set mails = 10 where subject = $1", user)
	h.Want(200, "POST", "/v1/orgs/"+h.Theirs.Organization.ID+"/invites", h.Theirs.Tokens[schema.RoleAdmin], `{"emails":["ann@example.com"]}`)
	h.Want(200, "POST", again, s.Token, nil)
	if failed := jobstest.RunMails(t, h.Store, server.Sender(t), publicBase); len(failed) != 0 || len(server.Mails()) != 2 {
		t.Errorf("%+v, %d mails", failed, len(server.Mails()))
	}
	wantMail(s, "ann@example.com", "failed this address got as many invites today as one address may: send it again tomorrow")
	for _, other := range []string{h.Theirs.Tokens[schema.RoleAdmin], h.Ours.Tokens[schema.RoleCreate], ""} {
		if a := h.Do("POST", again, other, nil); a.Status != 404 && a.Status != 403 && a.Status != 401 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	h.WantError(h.Do("POST", s.Org+"/invites/"+h.Ours.Users[schema.RoleRead].ID+"/resend", s.Token, nil), 404)
}

// TestMailServerFails: if the server refuses one mail finally, only this mail fails. If the server has a problem, all
// mails wait and show the problem.
func TestMailServerFails(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	var mu sync.Mutex
	tries := map[string]int{}
	server := mailtest.New(t, mailtest.Options{Rcpt: func(to string) error {
		mu.Lock()
		defer mu.Unlock()
		tries[to]++
		switch {
		case to == "gone@example.com":
			return mailtest.Refusal(550, 5, 1, 1, "no such user on secret-host")
		case to == "grey@example.com" && tries[to] < 4:
			return mailtest.Refusal(450, 4, 2, 0, "come back")
		}
		return nil
	}})
	s.Invite(`{"emails":["gone@example.com","grey@example.com","fine@example.com"]}`)
	if failed := jobstest.RunMails(t, h.Store, server.Sender(t), publicBase); len(failed) != 0 {
		t.Fatalf("%+v", failed)
	}
	wantMail(s, "gone@example.com", "failed the mail server refuses this mail (550 5.1.1)")
	wantMail(s, "grey@example.com", "sent <nil>")
	wantMail(s, "fine@example.com", "sent <nil>")
	if tries["gone@example.com"] != 1 || tries["grey@example.com"] != 4 || tries["fine@example.com"] != 1 || len(server.Mails()) != 2 {
		t.Errorf("%v, %d mails", tries, len(server.Mails()))
	}
	// The server refuses the login, so mails wait until the operator corrects it. A mail that has waited for more than
	// a day fails.
	closed := mailtest.New(t, mailtest.Options{User: "u", Password: "right"})
	wrong := mailtest.SenderTo(t, "smtp://u:wrong@"+closed.Addr, func(*mail.Config) {})
	s.Invite(`{"emails":["late@example.com","old@example.com"]}`)
	h.Exec("update email_invites set mail_asked_at = $1 where email = 'old@example.com'", time.Now().Add(-25*time.Hour))
	failed := jobstest.RunMails(t, h.Store, wrong, publicBase)
	if len(failed) != 1 || failed[0].Reason != "the mail server does not accept the login (535 5.7.8)" {
		t.Errorf("%+v", failed)
	}
	wantMail(s, "late@example.com", "waiting the mail server does not accept the login (535 5.7.8)")
	wantMail(s, "old@example.com", "failed the mail server does not accept the login (535 5.7.8)")
	// When a new mail is requested, the job also sends the mails that still wait.
	s.Invite(`{"emails":["next@example.com"]}`)
	jobstest.RunMails(t, h.Store, server.Sender(t), publicBase)
	wantMail(s, "late@example.com", "sent <nil>")
	wantMail(s, "next@example.com", "sent <nil>")
	wantMail(s, "old@example.com", "failed the mail server does not accept the login (535 5.7.8)")
}

// TestMailsOfAllAreBounded requests more mails than all organizations together may send a day. The mails beyond this
// limit wait, and are sent on the next day.
func TestMailsOfAllAreBounded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	bounded, err := store.New(
		postgres.Config{
			URL: h.URL, MaxConns: 4, Quotas: postgres.Quotas{AllMails: 3},
		}, store.Config{Invites: orgs.Config{InvitesByMail: true}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := bounded.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bounded.Stop)
	s := apitest.NewSupport(h)
	server := mailtest.New(t, mailtest.Options{})
	s.Invite(`{"emails":["a@example.com","b@example.com"]}`)
	jobstest.RunMails(t, bounded, server.Sender(t), publicBase)
	h.Want(200, "POST", "/v1/orgs/"+h.Theirs.Organization.ID+"/invites", h.Theirs.Tokens[schema.RoleAdmin],
		`{"emails":["c@example.com"]}`)
	jobstest.RunMails(t, bounded, server.Sender(t), publicBase)
	s.Invite(`{"emails":["d@example.com"]}`)
	jobstest.RunMails(t, bounded, server.Sender(t), publicBase)
	if n := len(server.Mails()); n != 3 {
		t.Fatalf("%d mails", n)
	}
	wantMail(s, "d@example.com", "waiting as many invites were sent by mail today as this service may send: they wait")
	h.Exec("update mail_counts set day = day - 1")
	s.Invite(`{"emails":["e@example.com"]}`)
	jobstest.RunMails(t, bounded, server.Sender(t), publicBase)
	wantMail(s, "d@example.com", "sent <nil>")
	wantMail(s, "e@example.com", "sent <nil>")
}

// TestNamesInMails: a name that a user has chosen can neither add headers to a mail nor become a link in it.
func TestNamesInMails(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	server := mailtest.New(t, mailtest.Options{})
	for i, name := range []string{
		"Evil\r\nBcc: all@example.com\r\n\r\nbody", "Evil\nSubject: other", "\u202eright to left", strings.Repeat("long ", 50), "See https://evil.example/now",
		"=?utf-8?q?x=0D=0ABcc:_a@example.com?=", "<script>alert(1)</script>", "{{.Secret}}",
	} {
		h.Exec("update organizations set title = $1 where id = $2", name, h.Ours.Organization.ID)
		h.Exec("update users set display_name = $1 where id = $2", name, h.Ours.Users[schema.RoleAdmin].ID)
		s.Invite(`{"emails":["n` + string(rune('0'+i)) + `@example.com"]}`)
		if failed := jobstest.RunMails(t, h.Store, server.Sender(t), publicBase); len(failed) != 0 {
			t.Fatalf("%q: %+v", name, failed)
		}
		m := server.Mails()[i]
		if len(m.Header["Bcc"]) != 0 || len(m.Header["Subject"]) != 1 || strings.ContainsAny(m.Subject, "\r\n\u202e") || len([]rune(m.Subject)) > 110 {
			t.Errorf("%q: %v", name, m.Header)
		}
		if strings.Contains(m.HTML, "<script") || strings.Contains(m.Text, "evil.example") || strings.Contains(m.HTML, "evil.example") {
			t.Errorf("%q:\n%s", name, m.HTML)
		}
		linkIn(t, m)
	}
}

// TestMailOfSSOInvite: the mail of an invite by single sign-on has a link to the provider, and no secret.
func TestMailOfSSOInvite(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	server := mailtest.New(t, mailtest.Options{})
	provider := "/saml/" + apitest.Examples["updateOrganizationSAMLProvider"].Make(h, h.Ours)["samlProviderId"]
	_, certificate := testCertificate(t)
	resource := h.Want(200, "PATCH", s.Org+provider, s.Token, `{"entityID":"e","ssoURL":"https://idp.example.com","certificate":"`+certificate+`"}`)
	s.Invite(`{"emails":["sso@example.com"],"sso":true}`)
	jobstest.RunMails(t, h.Store, server.Sender(t), publicBase)
	m := server.Mails()[0]
	if start := apitest.Line(resource, "service.startURL"); !strings.Contains(m.Text, start) || !strings.Contains(html.UnescapeString(m.HTML), start) || strings.Contains(m.Text, "?link=") {
		t.Errorf("%s", m.Text)
	}
	h.Exec(`do $$ begin assert (select link_hash is null from email_invites where email = 'sso@example.com'); end $$`)
	s.Invite(`{"emails":["gone@example.com"],"sso":true}`)
	h.Want(204, "DELETE", s.Org+provider, s.Token, nil)
	jobstest.RunMails(t, h.Store, server.Sender(t), publicBase)
	wantMail(s, "gone@example.com", "failed the organization has no active provider to log in with: set one up and send the invite again")
}

// TestWithoutMailServer: without a mail server, invites are created, and the answer says that no mail is sent.
func TestWithoutMailServer(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	st, err := store.New(postgres.Config{URL: h.URL, MaxConns: 4}, store.Config{})
	if err == nil {
		err = st.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Stop)
	h.Store = st
	h.Serve(nil)
	s := apitest.NewSupport(h)
	invited := s.Invite(`{"emails":["ann@example.com"]}`)
	if invited.Mail == nil || invited.Mail.State != people.InviteMailOff ||
		!strings.Contains(invited.Mail.Reason, "OCTAVO_SMTP_URL") {
		t.Errorf("%+v", invited.Mail)
	}
	id, line := pending(s, "ann@example.com")
	if line != "off "+people.InviteMailsOff {
		t.Error(line)
	}
	h.WantError(h.Do("POST", s.Org+"/invites/"+id+"/resend", s.Token, nil), 409)
	if jobs := h.Want(200, "GET", s.Org+"/jobs", s.Token, nil); jobs["count"] != 0.0 {
		t.Errorf("%v", jobs)
	}
	h.Accept(id)
}

// TestBadInvitePages: requests with an invalid link or an invalid name are refused. The log does not have the link of
// such a request.
func TestBadInvitePages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	secret := h.InviteLink(h.Ours, s.Invite(`{"emails":["ann@example.com"]}`).Users[0])
	for query, body := range map[string]string{
		"": "name=x", "?link=": "name=x", "?link=" + strings.Repeat("a", 201): "name=x", "?link=" + secret: "name=" + strings.Repeat("x", 101),
		"?link=" + secret + "&": "name=" + url.QueryEscape("a\x00"),
	} {
		if a := h.Do("POST", "/v1/invites/accept"+query, "", apitest.Form{Body: body}, browser...); a.Status != 400 {
			t.Errorf("%s %s: %d %s", query, body, a.Status, a.Body)
		}
	}
	if strings.Contains(h.Log.String(), secret) {
		t.Error("the log has a secret that is still good")
	}
}
