package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/remote/mail/mailtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

var message = mail.Message{
	ID: "id.1@docs.example.com", To: "ann@example.com", Subject: "Café", Text: "Hello\n.\nå line\n", HTML: "<p>Hello å</p>",
}

func send(t *testing.T, s *mail.Sender, messages ...mail.Message) error {
	t.Helper()
	conn, err := s.Open(t.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, m := range messages {
		if err := conn.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func wantReason(t *testing.T, name string, err error, want *mail.Reason) *mail.Error {
	t.Helper()
	e, ok := errors.AsType[*mail.Error](err)
	if !ok || e.Reason != want {
		t.Fatalf("%s: %T %v, want %s", name, err, err, want.Label)
	}
	return e
}

func TestSend(t *testing.T) {
	t.Parallel()
	server := mailtest.New(t, mailtest.Options{})
	second := message
	second.To, second.ID = "bob@example.com", "id.2@docs.example.com"
	if err := send(t, server.Sender(t), message, second); err != nil {
		t.Fatal(err)
	}
	got := server.Mails()
	if len(got) != 2 {
		t.Fatalf("%d mails", len(got))
	}
	m := got[0]
	for _, pair := range [][2]string{
		{m.From, "octavo@example.com"}, {m.To, "ann@example.com"}, {m.Subject, "Café"}, {m.Text, "Hello\r\n.\r\nå line\r\n"}, {m.HTML, "<p>Hello å</p>"},
		{m.Header.Get("From"), `"Octavo" <octavo@example.com>`}, {m.Header.Get("To"), "<ann@example.com>"},
		{m.Header.Get("Message-ID"), "<id.1@docs.example.com>"}, {m.Header.Get("Auto-Submitted"), "auto-generated"},
		{m.Header.Get("X-Mailer"), ""}, {m.Header.Get("User-Agent"), ""}, {got[1].To, "bob@example.com"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q, want %q", pair[0], pair[1])
		}
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
}

// certificate returns a certificate for 127.0.0.1, and the authority that has signed it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}, pool
}

func TestTLSAndLogin(t *testing.T) {
	t.Parallel()
	secure, authorities := certificate(t)
	trusting := func(c *mail.Config) { c.Authorities = authorities }
	for name, test := range map[string]struct {
		options mailtest.Options
		scheme  string
		suffix  string
		change  func(*mail.Config)
		want    *mail.Reason // nil means that the mail is sent over an encrypted connection
	}{
		"STARTTLS":             {mailtest.Options{TLS: secure}, "smtp", "?tls=starttls", trusting, nil},
		"implicit":             {mailtest.Options{TLS: secure, Implicit: true}, "smtps", "", trusting, nil},
		"login over STARTTLS":  {mailtest.Options{TLS: secure, User: "u@x", Password: "p:w"}, "smtp", "?tls=starttls", trusting, nil},
		"login over TLS":       {mailtest.Options{TLS: secure, Implicit: true, User: "u@x", Password: "p:w"}, "smtps", "", trusting, nil},
		"no STARTTLS":          {mailtest.Options{}, "smtp", "?tls=starttls", trusting, mail.Insecure},
		"unknown authority":    {mailtest.Options{TLS: secure}, "smtp", "?tls=starttls", func(*mail.Config) {}, mail.Untrusted},
		"authority, implicit":  {mailtest.Options{TLS: secure, Implicit: true}, "smtps", "", func(*mail.Config) {}, mail.Untrusted},
		"wrong password":       {mailtest.Options{TLS: secure, User: "u@x", Password: "other"}, "smtp", "?tls=starttls", trusting, mail.BadLogin},
		"TLS is not spoken":    {mailtest.Options{}, "smtps", "", trusting, mail.Untrusted},
		"login is needed":      {mailtest.Options{User: "u@x", Password: "p:w"}, "plain", "", trusting, mail.Unwilling},
		"login is not offered": {mailtest.Options{TLS: secure}, "smtp", "?tls=starttls", trusting, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.New(t, test.options)
			login := "u%40x:p%3Aw@"
			if test.scheme == "plain" {
				test.scheme, login = "smtp", ""
			}
			if test.options.User == "" && test.want == nil {
				login = ""
			}
			err := send(t, mailtest.SenderTo(t, test.scheme+"://"+login+server.Addr+test.suffix, test.change), message)
			if test.want != nil {
				e := wantReason(t, name, err, test.want)
				if strings.Contains(e.Error(), server.Addr) || strings.Contains(e.Error(), "127.0.0.1") || strings.Contains(e.Error(), "p:w") {
					t.Errorf("%v tells where the server is", e)
				}
				if got := server.Mails(); len(got) != 0 {
					t.Errorf("%d mails", len(got))
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %v", err, errors.Unwrap(err))
			}
			if got := server.Mails(); len(got) != 1 || !got[0].Encrypted {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options mailtest.Options
		want    *mail.Reason
		text    string
	}{
		"unknown address": {mailtest.Options{Rcpt: func(string) error { return mailtest.Refusal(550, 5, 1, 1, "no such user at inner.example") }}, mail.Refused, "the mail server refuses this mail (550 5.1.1)"},
		"greylisted":      {mailtest.Options{Rcpt: func(string) error { return mailtest.Refusal(451, 4, 7, 1, "later") }}, mail.Postponed, "the mail server does not take this mail now (451 4.7.1)"},
		"content":         {mailtest.Options{Data: func(mailtest.Mail) error { return mailtest.Refusal(554, 5, 7, 1, "spam") }}, mail.Refused, "the mail server refuses this mail (554 5.7.1)"},
		"full":            {mailtest.Options{Data: func(mailtest.Mail) error { return mailtest.Refusal(452, 4, 3, 1, "full") }}, mail.Postponed, "the mail server does not take this mail now (452 4.3.1)"},
	} {
		server := mailtest.New(t, test.options)
		sender := server.Sender(t)
		e := wantReason(t, name, send(t, sender, message), test.want)
		if e.Error() != test.text || !e.Reason.Mail {
			t.Errorf("%s: %v", name, e)
		}
	}
	for _, to := range []string{"", "ann", "ann@example.com\r\nRCPT TO:<eve@example.com>", "Ann <ann@example.com>", "a@b>\r\nDATA"} {
		server := mailtest.New(t, mailtest.Options{})
		bad := message
		bad.To = to
		_ = wantReason(t, to, send(t, server.Sender(t), bad), mail.BadAddress)
		if len(server.Mails()) != 0 {
			t.Errorf("%q was sent", to)
		}
	}
}

// TestOneIsRefused checks that the next mail is sent on the same connection after a mail was refused.
func TestOneIsRefused(t *testing.T) {
	t.Parallel()
	server := mailtest.New(t, mailtest.Options{Rcpt: func(to string) error {
		if to == "ann@example.com" {
			return mailtest.Refusal(550, 5, 1, 1, "unknown")
		}
		return nil
	}})
	conn, err := server.Sender(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = wantReason(t, "first", conn.Send(message), mail.Refused)
	next := message
	next.To = "bob@example.com"
	if err := conn.Send(next); err != nil {
		t.Fatal(err)
	}
	if got := server.Mails(); len(got) != 1 || got[0].To != "bob@example.com" {
		t.Errorf("%+v", got)
	}
}

// broken starts a server that answers each command as `script` says. If `script` has no answer for a command, the
// server closes the connection. If `script` is nil, the server sends nothing.
func broken(t *testing.T, script map[string]string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			if script == nil {
				continue
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = fmt.Fprint(conn, script[""])
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					word, _, _ := strings.Cut(lines.Text(), " ")
					if script[word] == "" {
						return
					}
					if script[word] != "-" {
						_, _ = fmt.Fprint(conn, script[word])
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func TestBrokenServers(t *testing.T) {
	t.Parallel()
	good := map[string]string{"": "220 x\r\n", "EHLO": "250 x\r\n", "NOOP": "250 x\r\n", "MAIL": "250 x\r\n", "RCPT": "250 x\r\n", "DATA": "354 x\r\n"}
	with := func(pairs ...string) map[string]string {
		script := map[string]string{}
		for word, answer := range good {
			script[word] = answer
		}
		for i := 0; i < len(pairs); i += 2 {
			script[pairs[i]] = pairs[i+1]
		}
		return script
	}
	for name, test := range map[string]struct {
		addr string
		want *mail.Reason
	}{
		"nobody listens":         {enginetest.Address(t), mail.Unreachable},
		"silent":                 {broken(t, nil), mail.Interrupted},
		"silent after DATA":      {broken(t, with("DATA", "-")), mail.Interrupted},
		"cut in the middle":      {broken(t, good), mail.Interrupted}, // the first line of the mail gets no answer
		"cut at RCPT":            {broken(t, with("RCPT", "")), mail.Interrupted},
		"half an answer":         {broken(t, with("RCPT", "250-x\r\n")), mail.Interrupted},
		"greets with a refusal":  {broken(t, with("", "554 no\r\n")), mail.Unwilling},
		"greets with a pause":    {broken(t, with("", "421 later\r\n")), mail.Interrupted},
		"speaks HTTP":            {broken(t, with("", "HTTP/1.1 400 Bad Request\r\n\r\n")), mail.Malformed},
		"closes at RCPT":         {broken(t, with("RCPT", "421 later\r\n")), mail.Interrupted},
		"refuses the sender":     {broken(t, with("MAIL", "553 no\r\n", "RSET", "250 x\r\n")), mail.Unwilling},
		"is too busy for anyone": {broken(t, with("MAIL", "452 no\r\n", "RSET", "250 x\r\n")), mail.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender := mailtest.SenderTo(t, "smtp://"+test.addr, func(c *mail.Config) { c.Timeout = 2 * time.Second })
			e := wantReason(t, name, send(t, sender, message), test.want)
			if e.Reason.Mail || e.Reason.Final {
				t.Errorf("%+v is about the mail", e.Reason)
			}
		})
	}
}

// TestGivenUp cancels the context of a connection in the middle of a mail. Send must then return.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	server := mailtest.New(t, mailtest.Options{Data: func(mailtest.Mail) error { cancel(); <-release; return nil }})
	t.Cleanup(func() { close(release) })
	conn, err := server.Sender(t).Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = wantReason(t, "given up", conn.Send(message), mail.Interrupted)
}

func TestParseServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]mail.Server{
		"smtp://mail.example.com":                  {Host: "mail.example.com", Port: 587},
		"smtps://u%40x:p%2Fw@mail.example.com":     {Host: "mail.example.com", Port: 465, TLS: mail.ImplicitTLS, User: "u@x", Password: "p/w"},
		"smtp://127.0.0.1:2525":                    {Host: "127.0.0.1", Port: 2525, TLS: mail.NoTLS},
		"smtp://u:p@localhost/":                    {Host: "localhost", Port: 587, TLS: mail.NoTLS, User: "u", Password: "p"},
		"smtp://[::1]:25?tls=starttls":             {Host: "::1", Port: 25, TLS: mail.StartTLS},
		"smtp://relay.lan:25?tls=off":              {Host: "relay.lan", Port: 25, TLS: mail.NoTLS},
		"smtp://u:p@mail.example.com:2587":         {Host: "mail.example.com", Port: 2587, User: "u", Password: "p"},
		"":                                         {},
		"mail.example.com:25":                      {},
		"http://mail.example.com":                  {},
		"smtp://":                                  {},
		"smtp://mail.example.com/path":             {},
		"smtp://mail.example.com:0":                {},
		"smtp://mail.example.com:99999":            {},
		"smtp://mail.example.com?tls=maybe":        {},
		"smtp://mail.example.com?other=1":          {},
		"smtps://mail.example.com?tls=off":         {},
		"smtp://u:secret@mail.example.com?tls=off": {},
		"smtp://u:sec%ret@mail.example.com":        {},
	} {
		got, err := mail.ParseServer(text)
		if got != want || (err == nil) != (want.Host != "") {
			t.Errorf("%s: %+v %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "sec") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range mail.Reasons {
		if seen[r.Label] || r.Text == "" || r.Final && !r.Mail {
			t.Errorf("%+v", r)
		}
		seen[r.Label] = true
	}
}
