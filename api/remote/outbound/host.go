package outbound

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// host is a host whose spelling was checked. It is an address, or a name in lower-case ASCII without a dot at the end.
type host struct {
	name string
	addr netip.Addr // addr is valid if the host is an address
}

func (h host) isAddress() bool { return h.addr.IsValid() }

func (h host) String() string {
	if h.isAddress() {
		return h.addr.String()
	}
	return h.name
}

// parseHost accepts only spellings that every program reads in the same way. It refuses numbers that only some programs
// read as IPv4 addresses (127.1, 0x7f000001, 017700000001). It also refuses IPv6 zones, and characters at which some
// programs end a name.
func parseHost(text string) (host, *Error) {
	refuse := func(detail string) (host, *Error) {
		return host{}, &Error{Reason: InvalidAddress, Host: shown(text), Detail: detail}
	}
	name := text
	if !isASCII(name) {
		// The mapping comes first, because it converts digits and dots of other scripts to ASCII.
		var err error
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return refuse("the name is no valid international name")
		}
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" {
		return refuse("the host is missing")
	}
	if strings.Contains(name, "%") {
		return refuse("the host has a zone or an escape")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return host{addr: addr.Unmap()}, nil
	}
	labels := strings.Split(name, ".")
	if endsInNumber(labels) {
		return refuse("an IPv4 address has four decimal numbers")
	}
	if len(name) > 253 {
		return refuse("the name is too long")
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return refuse("the name is no valid host name")
		}
	}
	return host{name: name}, nil
}

// endsInNumber reports whether some programs would read a name as an IPv4 address:
// https://url.spec.whatwg.org/#ends-in-a-number-checker.
func endsInNumber(labels []string) bool {
	last := labels[len(labels)-1]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return true
	}
	digits, hex := strings.CutPrefix(last, "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// parseURL checks the URL of an HTTP request. It returns the URL with a checked host and without a fragment.
func parseURL(u *url.URL) (*url.URL, host, *Error) {
	refuse := func(detail string) (*url.URL, host, *Error) {
		return nil, host{}, &Error{Reason: InvalidAddress, Host: shown(u.Hostname()), Detail: detail}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return refuse("only http and https URLs are reached")
	}
	h, err := parseHost(u.Hostname())
	if err != nil {
		return nil, host{}, err
	}
	target := *u
	target.Fragment, target.RawFragment = "", ""
	target.Host = h.String()
	if h.isAddress() && h.addr.Is6() {
		target.Host = "[" + h.String() + "]"
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return refuse("the port is no number from 1 to 65535")
		}
		if !httpPort(uint16(port)) {
			return nil, host{}, &Error{Reason: RefusedPort, Host: h.String()}
		}
		target.Host = net.JoinHostPort(h.String(), strconv.Itoa(int(port)))
	}
	return &target, h, nil
}
