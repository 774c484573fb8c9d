package outbound

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Resolver looks up the addresses of a name. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config configures a Guard. The zero Config is usable.
type Config struct {
	Policy Policy
	// Resolver looks up names. If it is nil, the resolver of this machine is used.
	Resolver Resolver
	// Authorities have signed the certificates of servers. If it is nil, the authorities of the system are used.
	Authorities *x509.CertPool
}

// Guard connects to hosts that users name.
type Guard struct {
	policy      Policy
	resolver    Resolver
	authorities *x509.CertPool
	// connect opens a connection to a checked address. Tests replace this function to see the address.
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	// own returns the addresses of this machine.
	own func() ([]net.Addr, error)
}

// New returns a Guard. It opens no connection.
func New(cfg Config) *Guard {
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	return &Guard{
		policy: cfg.Policy, resolver: cfg.Resolver, authorities: cfg.Authorities,
		connect: (&net.Dialer{}).DialContext, own: net.InterfaceAddrs,
	}
}

const (
	// dialTimeout bounds the time of DialContext, including the look-up of the name.
	dialTimeout = 10 * time.Second
	// mostAddresses is the largest number of a name's addresses that are tried.
	mostAddresses = 6
)

// DialContext connects to host:port over tcp, tcp4 or tcp6. Protocols other than HTTP use it to connect. Its error is
// an *Error.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	text, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &Error{Reason: InvalidAddress, Host: shown(address), Detail: "it is not host:port"}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, &Error{Reason: InvalidAddress, Host: shown(text), Detail: "the port is no number from 1 to 65535"}
	}
	h, refused := parseHost(text)
	if refused != nil {
		return nil, refused
	}
	addrs, refused := g.resolve(ctx, network, h)
	if refused != nil {
		return nil, refused
	}
	conn, refused := g.connectAny(ctx, h, addrs, uint16(port))
	if refused != nil { // as an error, a nil *Error would not be nil
		return nil, refused
	}
	return conn, nil
}

// resolve returns the addresses of a host, after it has checked all of them. If one address is forbidden, the host is
// refused. A forbidden address is a mistake or an attack, and the next attempt might use it.
func (g *Guard) resolve(ctx context.Context, network string, h host) ([]netip.Addr, *Error) {
	fail := func(reason *Reason, cause error) ([]netip.Addr, *Error) {
		return nil, &Error{Reason: reason, Host: h.String(), cause: cause}
	}
	usable := func(netip.Addr) bool { return true }
	switch network {
	case "tcp":
	case "tcp4":
		usable = netip.Addr.Is4
	case "tcp6":
		usable = netip.Addr.Is6
	default:
		return fail(InvalidAddress, fmt.Errorf("network %q is not tcp", network))
	}
	opened, addrs := g.policy.names(h), []netip.Addr{h.addr}
	if !h.isAddress() {
		// The search list of this machine is used only for names that the operator has allowed.
		name := h.name
		if !opened {
			name += "."
		}
		var err error
		if addrs, err = g.resolver.LookupNetIP(ctx, "ip", name); err != nil {
			return fail(lookupReason(err), err)
		}
	}
	ours, err := g.ours()
	if err != nil {
		return fail(LookupFailed, err)
	}
	for i, addr := range addrs {
		if err := g.policy.check(addr, opened); err != nil {
			return fail(RefusedNetwork, err)
		}
		addrs[i] = addr.Unmap()
		// A service may listen on all addresses of this machine and rely on a firewall in front of the machine.
		if slices.Contains(ours, addrs[i]) && !opened && !g.policy.opens(addrs[i]) {
			return fail(RefusedNetwork, fmt.Errorf("%s is an address of this machine", addr))
		}
	}
	addrs = slices.DeleteFunc(addrs, func(addr netip.Addr) bool { return !usable(addr) })
	if len(addrs) == 0 {
		return fail(HostNotFound, errors.New("no address for this network"))
	}
	return addrs[:min(len(addrs), mostAddresses)], nil
}

func lookupReason(err error) *Reason {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return HostNotFound
	}
	if errors.Is(err, context.Canceled) {
		return Canceled
	}
	return LookupFailed
}

// ours returns the addresses of this machine.
func (g *Guard) ours() ([]netip.Addr, error) {
	found, err := g.own()
	if err != nil {
		return nil, fmt.Errorf("cannot list the addresses of this machine: %w", err)
	}
	var ours []netip.Addr
	for _, addr := range found {
		if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
			ours = append(ours, prefix.Addr().Unmap())
		}
	}
	return ours, nil
}

// connectAny tries the addresses in order until a connection succeeds. Each attempt gets an equal share of the
// remaining time.
func (g *Guard) connectAny(ctx context.Context, h host, addrs []netip.Addr, port uint16) (net.Conn, *Error) {
	var last error
	for i, addr := range addrs {
		conn, err := g.connectOne(ctx, netip.AddrPortFrom(addr, port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		last = err
		if ctx.Err() != nil {
			break
		}
	}
	reason := classify(last)
	if reason != TimedOut && reason != Canceled {
		reason = ConnectFailed
	}
	return nil, &Error{Reason: reason, Host: h.String(), cause: last}
}

func (g *Guard) connectOne(ctx context.Context, address netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return g.connect(ctx, "tcp", address.String())
}
