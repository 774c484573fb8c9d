package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Policy decides to which addresses a Guard may connect. The zero Policy allows only the public network.
type Policy struct {
	hosts    []string
	networks []netip.Prefix
}

// ParsePolicy reads the hosts, addresses and networks that the operator allows, for example "git.example.lan",
// "10.1.2.3" and "10.0.0.0/8". Its error names the invalid entry.
func ParsePolicy(entries []string) (Policy, error) {
	var p Policy
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if err := p.open(entry); err != nil {
			return Policy{}, fmt.Errorf("%q %w", entry, err)
		}
	}
	return p, nil
}

func (p *Policy) open(entry string) error {
	var prefix netip.Prefix
	if strings.Contains(entry, "/") {
		var err error
		if prefix, err = netip.ParsePrefix(entry); err != nil {
			return fmt.Errorf("is neither a host nor a network such as 10.0.0.0/8")
		}
		if prefix.Addr().Is4In6() {
			return fmt.Errorf("is an IPv4 network written as IPv6: write it as IPv4")
		}
		if masked := prefix.Masked(); masked != prefix {
			return fmt.Errorf("is not the start of its network: write %s, or the address alone", masked)
		}
	} else {
		h, err := parseHost(entry)
		if err != nil {
			return fmt.Errorf("is neither a host without a port, an address, nor a network: %s", err.Detail)
		}
		if !h.isAddress() {
			p.hosts = append(p.hosts, h.name)
			return nil
		}
		prefix = netip.PrefixFrom(h.addr, h.addr.BitLen())
	}
	if n := networkOf(prefix); n.access == never {
		return fmt.Errorf("can never be opened: %s is %s", n.prefix, n.what)
	}
	p.networks = append(p.networks, prefix)
	return nil
}

// names reports whether the operator has allowed a host by its name.
func (p Policy) names(h host) bool { return !h.isAddress() && slices.Contains(p.hosts, h.name) }

func (p Policy) opens(addr netip.Addr) bool {
	return slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// check returns an error if an address is not allowed. The error is for logs. `opened` is true if the operator has
// allowed the host by its name.
func (p Policy) check(addr netip.Addr, opened bool) error {
	if addr.Zone() != "" || !addr.IsValid() {
		return fmt.Errorf("%s is in a zone, or not valid", addr)
	}
	addr = addr.Unmap()
	n := networkOf(netip.PrefixFrom(addr, addr.BitLen()))
	if n.access == public {
		return nil
	}
	if n.access == never || !opened && !p.opens(addr) {
		return fmt.Errorf("%s is in %s (%s)", addr, n.prefix, n.what)
	}
	if nat64.Contains(addr) {
		inside := addr.As16()
		return p.check(netip.AddrFrom4([4]byte(inside[12:])), opened)
	}
	return nil
}

// privateNames has names of this machine, of private networks, and of the metadata services of clouds. All names below
// them are also private.
var privateNames = []string{"localhost", "localdomain", "internal", "local", "metadata", "instance-data"}

// PermitsURL reports whether a client may connect to an http or https URL, as far as the URL shows this. The addresses
// of a name are checked later, when a connection is opened. Login data in the URL is ignored.
func (p Policy) PermitsURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	_, h, refused := parseURL(u)
	if refused != nil {
		return false
	}
	if h.isAddress() {
		return p.check(h.addr, false) == nil
	}
	if p.names(h) || len(p.networks) > 0 { // a private name may have an address in an allowed network
		return true
	}
	return !slices.ContainsFunc(privateNames, func(private string) bool {
		return h.name == private || strings.HasSuffix(h.name, "."+private)
	})
}
