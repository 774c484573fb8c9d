package outbound

import "net/netip"

// network is a range of addresses that are not public, or a public range inside such a range.
type network struct {
	prefix netip.Prefix
	what   string
	access access
}

type access int

const (
	public access = iota
	// private is the class of networks that the operator can allow.
	private
	// never is the class of networks that nobody can allow. They lead to credentials, to no host, or to an IPv4 address
	// that a check could misread.
	never
)

// networks has the special-purpose addresses in IANA's registries,
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry. It also has the addresses at which clouds serve
// credentials. If several rows contain an address, the row with the longest prefix applies.
var networks = []network{
	row("0.0.0.0/0", "public", public),
	row("0.0.0.0/8", "this host", never),
	row("10.0.0.0/8", "private use", private),
	row("100.64.0.0/10", "carrier-grade NAT", private),
	row("100.100.100.200/32", "metadata service", never), // Alibaba Cloud
	row("127.0.0.0/8", "loopback", private),
	row("168.63.129.16/32", "metadata service", never), // Azure
	row("169.254.0.0/16", "link-local", never),         // the metadata services of most clouds are in this network
	row("172.16.0.0/12", "private use", private),
	row("192.0.0.0/24", "protocol assignments", private),
	row("192.0.0.192/32", "metadata service", never), // Oracle Cloud
	row("192.0.2.0/24", "documentation", private),
	row("192.88.99.0/24", "6to4 relay", private),
	row("192.168.0.0/16", "private use", private),
	row("198.18.0.0/15", "benchmarks", private),
	row("198.51.100.0/24", "documentation", private),
	row("203.0.113.0/24", "documentation", private),
	row("224.0.0.0/4", "multicast", never),
	row("240.0.0.0/4", "reserved", private),
	row("255.255.255.255/32", "broadcast", never),

	row("::/0", "unassigned", private), // in IPv6, only 2000::/3 is assigned to the public network
	row("2000::/3", "public", public),
	row("::/96", "IPv4-compatible", never),
	row("::/128", "unspecified", never),
	row("::1/128", "loopback", private),
	row("::ffff:0:0:0/96", "IPv4-translated", never),
	row("64:ff9b::/96", "NAT64", private), // Policy.check also checks the IPv4 address inside
	row("64:ff9b:1::/48", "local NAT64", never),
	row("100::/64", "discard-only", never),
	row("2001::/23", "protocol assignments", private),
	row("2001::/32", "Teredo", never),
	row("2001:2::/48", "benchmarks", private),
	row("2001:db8::/32", "documentation", private),
	row("2002::/16", "6to4", never),
	row("3fff::/20", "documentation", private),
	row("5f00::/16", "segment routing", private),
	row("fc00::/7", "unique local", private),
	row("fd00:42::42/128", "metadata service", never),  // Scaleway
	row("fd00:ec2::/32", "metadata service", never),    // AWS
	row("fd20:ce::254/128", "metadata service", never), // Google Cloud
	row("fe80::/10", "link-local", never),
	row("fec0::/10", "site-local", private),
	row("ff00::/8", "multicast", never),
}

func row(prefix, what string, access access) network {
	return network{netip.MustParsePrefix(prefix), what, access}
}

// nat64 is a network whose addresses end with an IPv4 address. A gateway connects to this IPv4 address.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// networkOf returns the row that applies to a network or an address: the row with the longest prefix that contains it.
// An address must not be IPv4-mapped, and must not have a zone.
func networkOf(part netip.Prefix) network {
	var found network
	for _, n := range networks {
		holds := n.prefix.Bits() <= part.Bits() && n.prefix.Contains(part.Addr())
		if holds && (!found.prefix.IsValid() || n.prefix.Bits() > found.prefix.Bits()) {
			found = n
		}
	}
	return found
}

// refusedPorts are the ports above 1023 whose servers may execute the lines of a request as commands. They are the
// ports of https://fetch.spec.whatwg.org/#port-blocking, and the ports of printers, Redis and memcached.
var refusedPorts = map[uint16]bool{
	1719: true, 1720: true, 1723: true, 2049: true, 3659: true, 4045: true, 4190: true, 5060: true, 5061: true, 6000: true, 6379: true,
	6566: true, 6665: true, 6666: true, 6667: true, 6668: true, 6669: true, 6679: true, 6697: true, 9100: true, 10080: true, 11211: true,
}

func httpPort(port uint16) bool {
	return port == 80 || port == 443 || port > 1023 && !refusedPorts[port]
}
