package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/mail"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Config has the server that sends mails, and the sender of the mails. All members except Timeout and Authorities are
// required.
type Config struct {
	// Guard connects to the host of Server. The operator has named this host.
	Guard  *outbound.Guard
	Server Server
	From   *mail.Address
	// Timeout bounds the time to connect and log in, and the time to send each mail. If it is 0, DefaultTimeout
	// applies.
	Timeout time.Duration
	// Authorities have signed the server's certificate. If it is nil, the authorities of the system are used.
	Authorities *x509.CertPool
}

// DefaultTimeout is the default time limit of one step. Some servers check a mail before they accept it, and may need
// most of this time.
const DefaultTimeout = time.Minute

// Sender sends mails. It may be used by many goroutines concurrently.
type Sender struct {
	cfg Config
}

// New returns a Sender. It opens no connection.
func New(cfg Config) *Sender {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	return &Sender{cfg}
}

// Message is a mail to one person. Its texts may have any characters, because they are encoded and cannot end a header.
type Message struct {
	// ID is unique to the mail, and the same in every attempt. So a receiver can recognise a repeated mail.
	ID      string
	To      string
	Subject string
	Text    string
	HTML    string
}

// Connection is a connection to the server after the login. Only one goroutine may use it.
type Connection struct {
	client *gomail.Client
	from   *mail.Address
	conn   net.Conn
	// forget stops the function that closes the connection when the context of Open ends.
	forget func() bool
}

// Open connects to the server and logs in. The connection is closed when the context ends. The error is an *Error.
func (s *Sender) Open(ctx context.Context) (*Connection, error) {
	c := &Connection{from: s.cfg.From}
	client, err := gomail.NewClient(s.cfg.Server.Host, s.options(c)...)
	if err != nil {
		return nil, opening(err)
	}
	c.client = client
	if err := client.DialWithContext(ctx); err != nil {
		if c.conn != nil {
			_ = c.conn.Close() // the first error is more informative
		}
		return nil, opening(err)
	}
	conn := c.conn
	c.forget = context.AfterFunc(ctx, func() { _ = conn.Close() }) // closing the connection ends all waiting calls
	return c, nil
}

func (s *Sender) options(c *Connection) []gomail.Option {
	server := s.cfg.Server
	secure := &tls.Config{ServerName: server.Host, RootCAs: s.cfg.Authorities, MinVersion: tls.VersionTLS12}
	policy := map[TLS]gomail.TLSPolicy{StartTLS: gomail.TLSMandatory, ImplicitTLS: gomail.NoTLS, NoTLS: gomail.NoTLS}[server.TLS]
	options := []gomail.Option{
		gomail.WithPort(server.Port), gomail.WithTimeout(s.cfg.Timeout), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(secure),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			if conn, err = s.cfg.Guard.DialContext(ctx, network, address); err != nil {
				return nil, err
			}
			c.conn = conn
			if server.TLS != ImplicitTLS {
				return conn, nil
			}
			encrypted := tls.Client(conn, secure)
			return encrypted, encrypted.HandshakeContext(ctx)
		}),
	}
	if server.User != "" {
		options = append(options, gomail.WithUsername(server.User), gomail.WithPassword(server.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	return options
}

// Send sends a mail. Its error is an *Error. If Reason.Mail of this error is false, the connection can no longer be
// used.
func (c *Connection) Send(m Message) error {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Address != m.To {
		return &Error{Reason: BadAddress, cause: err}
	}
	mime := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	mime.FromMailAddress(c.from)
	mime.ToMailAddress(to)
	mime.SetMessageIDWithValue(m.ID)
	mime.SetDate()
	mime.Subject(m.Subject)
	// With these headers, receivers send no absence notes and no other automatic answers.
	mime.SetGenHeader("Auto-Submitted", "auto-generated")
	mime.SetGenHeader("X-Auto-Response-Suppress", "All")
	mime.SetBodyString(gomail.TypeTextPlain, m.Text)
	mime.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	if err := c.client.Send(mime); err != nil {
		if e := sending(err); e != nil {
			return e
		}
	}
	return nil
}

// Close closes the connection.
func (c *Connection) Close() {
	c.forget()
	_ = c.client.Close() // an error does not affect the mails that were sent
	_ = c.conn.Close()
}
