// Package mailtest is an SMTP server on loopback that stores the mails that it receives. It can fail in the ways in
// which real servers fail. Only tests may import it.
package mailtest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	octavo "github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// Options configure the server. The zero Options accept every mail.
type Options struct {
	// If TLS is set, the server offers STARTTLS. If Implicit is also set, it requires TLS from the start.
	TLS      *tls.Config
	Implicit bool
	// If User is not empty, clients must log in with User and Password.
	User, Password string
	// Rcpt and Data may refuse or delay a mail. Data is called after the server has stored the mail.
	Rcpt func(to string) error
	Data func(m Mail) error
}

// Mail is a mail that the server has received.
type Mail struct {
	From, To string
	// Raw is the mail as it was received. The fields below are parsed from Raw.
	Raw        []byte
	Header     mail.Header
	Subject    string
	Text, HTML string
	// Encrypted is true if the mail was received over TLS.
	Encrypted bool
}

// Server is an SMTP server that stores the received mails.
type Server struct {
	Addr    string
	options Options
	mu      sync.Mutex
	mails   []Mail
}

// Refusal returns an answer with a code and an enhanced code.
func Refusal(code, class, subject, detail int, message string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: message}
}

// New starts a server that is closed when the test ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{options: o}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{server: s, conn: c}, nil }))
	server.Domain, server.ErrorLog = "mail.example.com", silent{}
	server.ReadTimeout, server.WriteTimeout = eventually.Patience, eventually.Patience
	server.AllowInsecureAuth, server.TLSConfig = true, o.TLS
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = listener.Addr().String()
	if o.Implicit {
		listener = tls.NewListener(listener, o.TLS)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // Serve returns when the test ends
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

// Mails returns the stored mails in the order of their arrival.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// Sender returns a Sender that uses the server.
func (s *Server) Sender(t testing.TB) *octavo.Sender {
	t.Helper()
	return SenderTo(t, "smtp://"+s.Addr, func(*octavo.Config) {})
}

// SenderTo returns a Sender that uses a server at an address on loopback.
func SenderTo(t testing.TB, url string, change func(*octavo.Config)) *octavo.Sender {
	t.Helper()
	server, err := octavo.ParseServer(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg := octavo.Config{
		Guard: outboundtest.Guard(t, server.Host), Server: server,
		From: &mail.Address{Name: "Octavo", Address: "octavo@example.com"}, Timeout: eventually.Patience,
	}
	change(&cfg)
	return octavo.New(cfg)
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

type session struct {
	server   *Server
	conn     *smtp.Conn
	from, to string
	known    bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.options.User || password != s.server.options.Password {
			return smtp.ErrAuthFailed
		}
		s.known = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.options.User != "" && !s.known {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	if s.server.options.Rcpt == nil {
		return nil
	}
	return s.server.options.Rcpt(to)
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := read(raw)
	if err != nil {
		return err
	}
	m.From, m.To = s.from, s.to
	_, m.Encrypted = s.conn.TLSConnectionState()
	s.server.mu.Lock()
	s.server.mails = append(s.server.mails, m)
	s.server.mu.Unlock()
	if s.server.options.Data == nil {
		return nil
	}
	return s.server.options.Data(m)
}

func (s *session) Reset()        { s.from, s.to = "", "" }
func (s *session) Logout() error { return nil }

// read parses a mail that has a text and an HTML form.
func read(raw []byte) (Mail, error) {
	m := Mail{Raw: raw}
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return m, err
	}
	m.Header = parsed.Header
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		return m, err
	}
	media, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || media != "multipart/alternative" {
		return m, errors.Join(err, errors.New("no mail with alternatives"))
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for _, text := range []*string{&m.Text, &m.HTML} {
		part, err := parts.NextRawPart()
		if err != nil {
			return m, err
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return m, err
		}
		*text = string(content)
	}
	return m, nil
}
