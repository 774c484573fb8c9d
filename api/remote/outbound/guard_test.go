package outbound

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// names is a resolver. Each look-up of a name returns the next answer in the name's list. After the last answer, the
// last answer is returned again.
type names struct {
	mu      sync.Mutex
	answers map[string][]string
	asked   []string
}

func (n *names) LookupNetIP(_ context.Context, network, name string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	answers := n.answers[strings.TrimSuffix(name, ".")]
	if network != "ip" || len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, Server: "10.9.9.9:53", IsNotFound: true}
	}
	if answers[0] == "failure" {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, Server: "10.9.9.9:53", IsTemporary: true}
	}
	if len(answers) > 1 {
		n.answers[strings.TrimSuffix(name, ".")] = answers[1:]
	}
	var addrs []netip.Addr
	for text := range strings.FieldsSeq(answers[0]) {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

// dialed records addresses and does not connect to them. An address in `dead` refuses the connection.
type dialed struct {
	addresses []string
	dead      []string
}

func (d *dialed) connect(_ context.Context, network, address string) (net.Conn, error) {
	d.addresses = append(d.addresses, network+" "+address)
	if slices.Contains(d.dead, address) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused by " + address)}
	}
	ours, _ := net.Pipe()
	return ours, nil
}

func TestDial(t *testing.T) {
	t.Parallel()
	const a, b = "tcp 93.184.216.34:443", "tcp [2606:2800:220:1::1]:443"
	for _, test := range []struct {
		name, network, address, answer, allow string
		reason                                *Reason
		dialed                                []string
	}{
		{"public", "tcp", "a.example:443", "93.184.216.34", "", nil, []string{a}},
		{"the first that accepts", "tcp", "a.example:443", "1.1.1.1 93.184.216.34", "", nil, []string{"tcp 1.1.1.1:443", a}},
		{"mapped", "tcp", "a.example:443", "::ffff:93.184.216.34", "", nil, []string{a}},
		{"only IPv6", "tcp6", "a.example:443", "93.184.216.34 2606:2800:220:1::1", "", nil, []string{b}},
		{"only IPv4", "tcp4", "a.example:443", "2606:2800:220:1::1 93.184.216.34", "", nil, []string{a}},
		{"an address", "tcp", "93.184.216.34:443", "", "", nil, []string{a}},
		{"an IPv6 address", "tcp", "[2606:2800:220:1::1]:443", "", "", nil, []string{b}},
		{"any port", "tcp", "a.example:25", "93.184.216.34", "", nil, []string{"tcp 93.184.216.34:25"}},
		{"none accepts", "tcp", "a.example:443", "1.1.1.1 1.1.1.1", "", ConnectFailed, []string{"tcp 1.1.1.1:443", "tcp 1.1.1.1:443"}},
		{"few attempts", "tcp", "a.example:443", strings.Repeat("1.1.1.1 ", 100), "", ConnectFailed, slices.Repeat([]string{"tcp 1.1.1.1:443"}, mostAddresses)},

		{"private", "tcp", "a.example:443", "10.0.0.1", "", RefusedNetwork, nil},
		{"private among public", "tcp", "a.example:443", "93.184.216.34 10.0.0.1", "", RefusedNetwork, nil},
		{"private in the other family", "tcp4", "a.example:443", "93.184.216.34 fd00::1", "", RefusedNetwork, nil},
		{"private last of many", "tcp", "a.example:443", strings.Repeat("93.184.216.34 ", 50) + "127.0.0.1", "", RefusedNetwork, nil},
		{"mapped loopback", "tcp", "a.example:443", "::ffff:127.0.0.1", "", RefusedNetwork, nil},
		{"in a zone", "tcp", "a.example:443", "fe80::1%eth0", "", RefusedNetwork, nil},
		{"a loopback address", "tcp", "127.0.0.1:443", "", "", RefusedNetwork, nil},
		{"an address of this machine", "tcp", "a.example:443", "192.5.6.7", "", RefusedNetwork, nil},
		{"an address of this machine, mapped", "tcp", "a.example:443", "::ffff:192.5.6.7", "", RefusedNetwork, nil},
		{"an address of this machine, literally", "tcp", "192.5.6.7:443", "", "", RefusedNetwork, nil},
		{"no answer", "tcp", "a.example:443", " ", "", HostNotFound, nil},
		{"no IPv6 answer", "tcp6", "a.example:443", "93.184.216.34", "", HostNotFound, nil},
		{"unknown", "tcp", "b.example:443", "", "", HostNotFound, nil},
		{"failing", "tcp", "a.example:443", "failure", "", LookupFailed, nil},
		{"another network", "udp", "a.example:443", "93.184.216.34", "", InvalidAddress, nil},
		{"a socket", "unix", "/run/a.sock:1", "", "", InvalidAddress, nil},
		{"no port", "tcp", "a.example", "93.184.216.34", "", InvalidAddress, nil},
		{"port 0", "tcp", "a.example:0", "93.184.216.34", "", InvalidAddress, nil},
		{"a named port", "tcp", "a.example:https", "93.184.216.34", "", InvalidAddress, nil},
		{"a number", "tcp", "2130706433:443", "127.0.0.1", "", InvalidAddress, nil},
		{"no host", "tcp", ":443", "", "", InvalidAddress, nil},

		{"opened by name", "tcp", "a.example:443", "10.0.0.1 fd00::1", "A.example.", nil, []string{"tcp 10.0.0.1:443"}},
		{"opened by network", "tcp", "a.example:443", "10.0.0.1", "10.0.0.0/24", nil, []string{"tcp 10.0.0.1:443"}},
		{"opened in part", "tcp", "a.example:443", "10.0.0.1 fd00::1", "10.0.0.0/24", RefusedNetwork, nil},
		{"another opened by name", "tcp", "a.example:443", "10.0.0.1", "b.example", RefusedNetwork, nil},
		{"its parent opened by name", "tcp", "a.example:443", "10.0.0.1", "example", RefusedNetwork, nil},
		{"this machine opened", "tcp", "a.example:443", "192.5.6.7", "192.5.6.7", nil, []string{"tcp 192.5.6.7:443"}},
		{"metadata opened by name", "tcp", "a.example:443", "169.254.169.254", "a.example", RefusedNetwork, nil},
		{"metadata in an opened network", "tcp", "a.example:443", "fd00:ec2::254", "fd00::/8", RefusedNetwork, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := &dialed{dead: []string{"1.1.1.1:443"}}
			dns := &names{answers: map[string][]string{"a.example": {test.answer, "127.0.0.1"}}}
			g := New(Config{Policy: policy(t, test.allow), Resolver: dns})
			g.connect, g.own = d.connect, func() ([]net.Addr, error) {
				return []net.Addr{&net.IPNet{IP: net.IPv4(192, 5, 6, 7), Mask: net.CIDRMask(24, 32)}}, nil
			}
			conn, err := g.DialContext(t.Context(), test.network, test.address)
			if (conn == nil) != (test.reason != nil) || !slices.Equal(d.addresses, test.dialed) {
				t.Errorf("got %v, %v, dialed %q", conn, err, d.addresses)
			}
			if err != nil {
				wantReason(t, err, test.reason)
				if message := err.Error(); strings.Contains(message, "10.") || strings.Contains(message, "1.1.1.1") || strings.Contains(message, "fd00") {
					t.Errorf("the message %q names an address", message)
				}
			}
			if len(dns.asked) > 1 {
				t.Errorf("asked for %q", dns.asked)
			}
		})
	}
}

func wantReason(t *testing.T, err error, reason *Reason) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Reason != reason {
		t.Errorf("got %v (%v), want the reason %s", err, errors.Unwrap(err), reason.Label)
	}
}

// TestRebinding checks that each connection goes to the address that was checked for it. DNS may return another address
// later.
func TestRebinding(t *testing.T) {
	t.Parallel()
	d, dns := &dialed{}, &names{answers: map[string][]string{"a.example": {"93.184.216.34", "127.0.0.1", "93.184.216.34"}}}
	g := New(Config{Resolver: dns})
	g.connect = d.connect
	for i, reason := range []*Reason{nil, RefusedNetwork, nil} {
		if _, err := g.DialContext(t.Context(), "tcp", "a.example:443"); err != nil || reason != nil {
			wantReason(t, err, reason)
		}
		if len(dns.asked) != i+1 {
			t.Errorf("connection %d: asked for %q", i, dns.asked)
		}
	}
	if want := []string{"tcp 93.184.216.34:443", "tcp 93.184.216.34:443"}; !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q", d.addresses)
	}
}

// TestSearchList checks that the search list of the machine is used only for names that the operator has allowed.
func TestSearchList(t *testing.T) {
	t.Parallel()
	d, dns := &dialed{}, &names{answers: map[string][]string{"git": {"93.184.216.34"}, "wiki": {"93.184.216.34"}}}
	g := New(Config{Resolver: dns, Policy: policy(t, "git")})
	g.connect = d.connect
	for _, address := range []string{"git:443", "wiki:443"} {
		if _, err := g.DialContext(t.Context(), "tcp", address); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"git", "wiki."}; !slices.Equal(dns.asked, want) {
		t.Errorf("asked for %q", dns.asked)
	}
}

// TestDialTime checks that an address which does not answer leaves time for the next address.
func TestDialTime(t *testing.T) {
	t.Parallel()
	g := New(Config{Resolver: &names{answers: map[string][]string{"a.example": {"1.1.1.1 93.184.216.34"}}}})
	var left []time.Duration
	g.connect = func(ctx context.Context, _, _ string) (net.Conn, error) {
		deadline, _ := ctx.Deadline()
		left = append(left, time.Until(deadline))
		return nil, context.DeadlineExceeded
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	_, err := g.DialContext(ctx, "tcp", "a.example:443")
	wantReason(t, err, TimedOut)
	if len(left) != 2 || left[0] > dialTimeout/2 || left[0] < dialTimeout/4 || left[1] > dialTimeout || left[1] < dialTimeout/2 {
		t.Errorf("time for the addresses: %v", left)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	g.connect = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, ctx.Err() }
	_, err = g.DialContext(ctx, "tcp", "a.example:443")
	wantReason(t, err, Canceled)
}

func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Reasons {
		if seen[r.Label] || r.Text == "" || strings.HasSuffix(r.Text, ".") || !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("row %+v", *r)
		}
		seen[r.Label] = true
	}
}
