package mail

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
)

// Server has the address of an SMTP server, and the login for it.
type Server struct {
	Host string
	Port int
	// TLS says when the connection is encrypted.
	TLS TLS
	// User and Password are the login. If User is empty, there is no login.
	User, Password string
}

// TLS says when a connection is encrypted.
type TLS int

// A connection is encrypted with STARTTLS before any data is sent, or from its start, or never.
const (
	StartTLS TLS = iota
	ImplicitTLS
	NoTLS
)

const (
	submissionPort    = 587
	submissionTLSPort = 465
)

// ParseServer reads smtp://user:password@host:port or smtps://…. With smtp, STARTTLS is required. It is not required if
// the host is this machine, or if the URL ends with ?tls=off. Errors do not contain the URL, because it may contain a
// password.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Hostname() == "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return Server{}, errors.New("is not of the form smtp://user:password@host:port or smtps://user:password@host:port; encode special characters of the password, such as %40 for @")
	}
	s := Server{Host: u.Hostname()}
	switch u.Scheme {
	case "smtp":
		s.Port = submissionPort
		if loopback(s.Host) {
			s.TLS = NoTLS
		}
	case "smtps":
		s.Port, s.TLS = submissionTLSPort, ImplicitTLS
	default:
		return Server{}, errors.New("must start with smtp:// or smtps://")
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errors.New("has a port that is no number from 1 to 65535")
		}
	}
	for name, values := range u.Query() {
		switch {
		case name != "tls" || len(values) != 1 || u.Scheme != "smtp" || values[0] != "off" && values[0] != "starttls":
			return Server{}, errors.New("may end with ?tls=off or ?tls=starttls after smtp://, and with nothing else")
		case values[0] == "off":
			s.TLS = NoTLS
		default:
			s.TLS = StartTLS
		}
	}
	s.User = u.User.Username()
	s.Password, _ = u.User.Password()
	if s.User != "" && s.TLS == NoTLS && !loopback(s.Host) {
		return Server{}, errors.New("has a password, which is not sent without TLS: leave out ?tls=off")
	}
	return s, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// ParseFrom reads the address of the sender, with or without a name.
func ParseFrom(text string) (*mail.Address, error) {
	from, err := mail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address such as docs@example.com or \"Docs <docs@example.com>\"", text)
	}
	return from, nil
}
