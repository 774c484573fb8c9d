package outbound

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func policy(t testing.TB, entries ...string) Policy {
	t.Helper()
	p, err := ParsePolicy(entries)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	everything := policy(t, "0.0.0.0/0", "::/0")
	for _, test := range []struct {
		addr         string
		public, open bool // public: the zero policy allows it; open: the policy that opens the most allows it.
	}{
		{"8.8.8.8", true, true},
		{"1.1.1.1", true, true},
		{"172.32.0.1", true, true},
		{"100.63.255.255", true, true},
		{"2a00:1450:4001::1", true, true},
		{"2606:4700:4700::1111", true, true},
		{"::ffff:8.8.8.8", true, true},

		{"10.0.0.1", false, true},
		{"172.16.0.1", false, true},
		{"172.31.255.255", false, true},
		{"192.168.0.1", false, true},
		{"127.0.0.1", false, true},
		{"127.255.255.254", false, true},
		{"100.64.0.1", false, true},
		{"100.127.255.255", false, true},
		{"192.0.0.1", false, true},
		{"192.0.2.1", false, true},
		{"192.88.99.1", false, true},
		{"198.18.0.1", false, true},
		{"198.19.255.255", false, true},
		{"198.51.100.1", false, true},
		{"203.0.113.1", false, true},
		{"240.0.0.1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"::ffff:10.0.0.1", false, true},
		{"::1", false, true},
		{"fc00::1", false, true},
		{"fd00::1", false, true},
		{"fec0::1", false, true},
		{"2001:db8::1", false, true},
		{"2001:2::1", false, true},
		{"2001:20::1", false, true},
		{"3fff::1", false, true},
		{"5f00::1", false, true},
		{"4000::1", false, true},
		{"64:ff9b::8.8.8.8", false, true},
		{"64:ff9b::10.0.0.1", false, true},

		{"0.0.0.0", false, false},
		{"0.1.2.3", false, false},
		{"169.254.169.254", false, false},
		{"169.254.170.2", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"100.100.100.200", false, false},
		{"168.63.129.16", false, false},
		{"192.0.0.192", false, false},
		{"224.0.0.1", false, false},
		{"239.255.255.250", false, false},
		{"255.255.255.255", false, false},
		{"::", false, false},
		{"::127.0.0.1", false, false},
		{"::8.8.8.8", false, false},
		{"::ffff:0:127.0.0.1", false, false},
		{"64:ff9b::169.254.169.254", false, false},
		{"64:ff9b:1::8.8.8.8", false, false},
		{"64:ff9b:1:a9fe:a9:fe00::", false, false},
		{"100::1", false, false},
		{"2001::1", false, false},
		{"2001:0:7f00:1::", false, false},
		{"2002:7f00:1::", false, false},
		{"2002:808:808::1", false, false},
		{"fe80::1", false, false},
		{"fe80::1%eth0", false, false},
		{"::1%lo", false, false},
		{"2a00:1450:4001::1%eth0", false, false},
		{"fd00:ec2::254", false, false},
		{"fd00:ec2::23", false, false},
		{"fd20:ce::254", false, false},
		{"fd00:42::42", false, false},
		{"ff02::1", false, false},
		{"ff0e::1", false, false},
	} {
		t.Run(test.addr, func(t *testing.T) {
			t.Parallel()
			addr := netip.MustParseAddr(test.addr)
			if err := (Policy{}).check(addr, false); (err == nil) != test.public {
				t.Errorf("the zero policy says %v", err)
			}
			if err := everything.check(addr, false); (err == nil) != test.open {
				t.Errorf("a policy that opens all networks says %v", err)
			}
			if err := (Policy{}).check(addr, true); (err == nil) != test.open {
				t.Errorf("for a host that is opened by name: %v", err)
			}
		})
	}
	if (Policy{}).check(netip.Addr{}, true) == nil {
		t.Error("no address is refused")
	}
}

// TestNetworkTable checks that every row applies to the addresses of its network.
func TestNetworkTable(t *testing.T) {
	t.Parallel()
	for i, n := range networks {
		if n.prefix.Masked() != n.prefix || n.what == "" {
			t.Errorf("row %s", n.prefix)
		}
		if slices.ContainsFunc(networks[i+1:], func(other network) bool { return other.prefix == n.prefix }) {
			t.Errorf("%s stands twice", n.prefix)
		}
		if found := networkOf(n.prefix); found.prefix != n.prefix {
			t.Errorf("%s is decided by %s", n.prefix, found.prefix)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ entry, problem string }{
		{"git.example.lan", ""}, {"Git.Example.LAN.", ""}, {"localhost", ""}, {"bücher.example", ""}, {" 10.0.0.0/8 ", ""}, {"127.0.0.1", ""}, {"::1", ""},
		{"fd00::/8", ""}, {"0.0.0.0/0", ""}, {"::/0", ""}, {"", ""}, {"8.8.8.8", ""}, {"100.64.0.0/10", ""}, {"64:ff9b::/96", ""},
		{"10.0.0.0/33", "network"}, {"10.0.0/8", "network"}, {"10.1.2.3/8", "10.0.0.0/8"}, {"::ffff:10.0.0.0/104", "as IPv4"}, {"a.lan/24", "network"},
		{"127.1", "four decimal"}, {"0x7f000001", "four decimal"}, {"git.lan:8443", "host name"}, {"*.lan", "host name"}, {"http://git.lan", "network"},
		{"a b", "host name"}, {"a..b", "host name"}, {"fe80::1%eth0", "zone"},
		{"169.254.169.254", "never"}, {"169.254.0.0/16", "never"}, {"169.254.169.0/24", "never"}, {"fe80::/10", "never"}, {"fe80::1", "never"},
		{"fd00:ec2::254", "never"}, {"::ffff:169.254.169.254", "never"}, {"100.100.100.200", "never"}, {"0.0.0.0", "never"}, {"224.0.0.1", "never"},
		{"2002::/16", "never"}, {"64:ff9b:1::/48", "never"},
	} {
		_, err := ParsePolicy([]string{"a.example", test.entry})
		if test.problem == "" && err != nil || test.problem != "" &&
			(err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), strconv.Quote(test.entry))) {
			t.Errorf("%q: got %v, want an error that says %q", test.entry, err, test.problem)
		}
	}
}

func TestPermitsURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url, allow string
		permitted  bool
	}{
		{"https://github.com/a/b", "", true}, {"http://git.example:8080", "", true}, {"https://8.8.8.8", "", true}, {"https://[2a00:1450::1]/a", "", true},
		{"https://1.example", "", true}, {"https://internal.example", "", true}, {"https://x0x.example", "", true}, {"https://me:pass@git.example", "", true},
		{"https://bücher.example", "", true}, {"https://my_git.example.", "", true}, {"https://git.example:443", "", true}, {"https://git.example:", "", true},

		{"https://localhost", "", false}, {"https://a.LOCALHOST.", "", false}, {"http://metadata.google.internal", "", false}, {"http://a.local", "", false},
		{"http://metadata", "", false}, {"http://127.0.0.1", "", false}, {"http://127.0.0.1.", "", false}, {"http://10.0.0.1", "", false},
		{"http://172.16.0.1", "", false}, {"http://169.254.169.254", "", false}, {"http://100.64.0.1", "", false}, {"http://224.0.0.1", "", false},
		{"http://[::1]", "", false}, {"http://[::]", "", false}, {"http://[::ffff:127.0.0.1]", "", false}, {"http://[::ffff:a9fe:a9fe]", "", false},
		{"http://[fe80::1%25eth0]", "", false}, {"http://[fd00::1]", "", false}, {"http://[64:ff9b::7f00:1]", "", false}, {"http://[::127.0.0.1]", "", false},
		{"http://me:pass@127.0.0.1", "", false}, {"http://8.8.8.8@127.0.0.1", "", false}, {"http://127.0.0.1%2f", "", false}, {"http://127.0.0.1\\@8.8.8.8", "", false},

		// some programs read these spellings as addresses
		{"http://127.1", "", false}, {"http://0x7f.1", "", false}, {"http://0177.0.0.1", "", false}, {"http://2130706433", "", false}, {"http://0x7f000001", "", false},
		{"http://017700000001", "", false}, {"http://0", "", false}, {"http://0x.1", "", false}, {"http://a.0x", "", false}, {"http://192.168.1", "", false},
		{"http://0xA9FEA9FE", "", false}, {"http://256.1.1.1", "", false}, {"http://1.2.3.4.5", "", false}, {"http://0x7f.0.0.0x1", "", false},
		{"http://127.0.0.01", "", false}, {"http://8.8.2056", "", false}, {"http://0x08080808", "", false}, {"http://127.0.0.1..", "", false},
		{"http://①②⑦.0.0.1", "", false}, {"http://127。0。0。1", "", false}, {"http://ｌocalhost", "", false}, {"http://127.0.0.1\u00ad", "", false},

		{"", "", false}, {"git.example", "", false}, {"//git.example", "", false}, {"ftp://git.example", "", false}, {"http:git.example", "", false},
		{"http://", "", false}, {"http:///a", "", false}, {"http://.", "", false}, {"http://a..b", "", false}, {"http://a b", "", false}, {"http://:80", "", false},
		{"http://[git.example]", "", false}, {"http://" + strings.Repeat("a", 64) + ".example", "", false}, {"http://" + strings.Repeat("a.", 127) + "example", "", false},
		{"http://git.example:22", "", false}, {"http://git.example:25", "", false}, {"http://git.example:6379", "", false}, {"http://git.example:0", "", false},
		{"http://git.example:65536", "", false}, {"http://git.example:-1", "", false}, {"http://git.example:80a", "", false}, {"http://git.example:1023", "", false},

		{"http://127.0.0.1:3000", "127.0.0.0/8", true}, {"http://localhost:3000", "127.0.0.0/8,::1", true}, {"http://localhost", "localhost", true},
		{"http://127.0.0.1", "localhost", false}, {"http://10.0.0.1", "127.0.0.0/8", false}, {"http://git.lan", "git.lan", true}, {"http://GIT.lan.", "git.lan", true},
		{"http://a.local", "b.local", false}, {"http://169.254.169.254", "0.0.0.0/0", false}, {"http://[::ffff:127.0.0.1]", "127.0.0.1", true},
		{"http://2130706433", "127.0.0.1", false}, {"http://127.0.0.1:22", "127.0.0.1", false},
	} {
		if got := policy(t, strings.Split(test.allow, ",")...).PermitsURL(test.url); got != test.permitted {
			t.Errorf("%q with %q: permitted is %t", test.url, test.allow, got)
		}
	}
}

// inetAton reads the forms of an IPv4 address that C libraries accept, including forms that are not four decimal
// numbers.
func inetAton(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:]+strings.Repeat("0", max(0, 3-len(part))), 16
		case len(part) > 1 && part[0] == '0':
			base = 8
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(all)))), true
}

// FuzzParseHost checks that every parser reads an accepted host in the same way. If the host is formatted and parsed
// again, it stays the same. C libraries do not read an accepted name as an address.
func FuzzParseHost(f *testing.F) {
	for _, seed := range []string{
		"git.example", "127.0.0.1", "127.1", "0x7f.1", "①②⑦.0.0.1", "a.0x1", "::1", "::ffff:1.2.3.4", "fe80::1%eth0", "ａ.example", "a..b", "xn--bcher-kva.example", "1.2.3.4.", "0.0.0.0x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, refused := parseHost(text)
		if refused != nil {
			if message := refused.Error(); len(message) > 1000 || strings.ContainsFunc(message, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("message %q", message)
			}
			return
		}
		again, refused := parseHost(h.String())
		if refused != nil || again != h {
			t.Fatalf("%q is %v, and that is %v, %v", text, h, again, refused)
		}
		if h.isAddress() {
			return
		}
		if addr, ok := inetAton(h.name); ok {
			t.Fatalf("%q is the name %q, which is also the address %s", text, h.name, addr)
		}
		if strings.ContainsAny(h.name, "/\\@:?#%[] \x00") || h.name != strings.ToLower(h.name) || !isASCII(h.name) {
			t.Fatalf("%q is the name %q", text, h.name)
		}
	})
}

// FuzzCheck compares the table with the special addresses of package net/netip. It also checks addresses that contain
// other addresses.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"8.8.8.8", "10.0.0.1", "2a00::1", "2002:7f00:1::", "64:ff9b::7f00:1", "::ffff:0:1", "2001:0:1::", "fd00:ec2::254", "::7f00:1"} {
		bytes := netip.MustParseAddr(seed).As16()
		f.Add(bytes[:])
	}
	everything := policy(f, "0.0.0.0/0", "::/0")
	f.Fuzz(func(t *testing.T, bytes []byte) {
		addr, ok := netip.AddrFromSlice(bytes)
		if !ok {
			return
		}
		plain := addr.Unmap()
		if (Policy{}).check(addr, false) == nil {
			special := !plain.IsGlobalUnicast() || plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast()
			if plain.Is6() {
				special = special || plain.As16()[0]>>5 != 1 || plain.As16()[0] == 0x20 && plain.As16()[1] == 2
			}
			if special {
				t.Fatalf("%s is public", addr)
			}
		}
		if everything.check(addr, true) == nil && (plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified()) {
			t.Fatalf("%s is opened", addr)
		}
	})
}
