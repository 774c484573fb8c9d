package access

import (
	"net/netip"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// addressEntries limits the number of addresses in the cache. An evicted address starts with a full burst, so a client
// that uses more addresses than this number evades the limits.
const addressEntries = 1 << 16

// addressLimits limits the requests without a valid token that each client address may send to this node. Trusted
// proxies have no limit: if a trusted proxy names no client, the operator itself sent the request.
type addressLimits struct {
	public, wrongToken rateLimit
	trusted            []netip.Prefix
	uses               *lru.Cache[netip.Addr, *addressUse]
}

// addressUse has the theoretical arrival times of an address, one for each limit. See tokenUse.
type addressUse struct {
	public, wrongToken atomic.Int64
}

func newAddressLimits(cfg Config) (*addressLimits, error) {
	uses, err := lru.New[netip.Addr, *addressUse](addressEntries)
	if err != nil {
		return nil, err
	}
	return &addressLimits{
		public: perSecondLimit(cfg.PublicRateLimit), wrongToken: perSecondLimit(cfg.WrongTokenRateLimit),
		trusted: cfg.TrustedProxies, uses: uses,
	}, nil
}

func (l *addressLimits) of(ip netip.Addr) *addressUse {
	address := Network(ip)
	if known, found := l.uses.Get(address); found {
		return known
	}
	use := &addressUse{}
	if known, found, _ := l.uses.PeekOrAdd(address, use); found {
		return known
	}
	return use
}

// takePublic counts a request to a public operation, or refuses it with 429.
func (l *addressLimits) takePublic(ip netip.Addr, now time.Time) error {
	if l.public.interval == 0 || Trusted(ip, l.trusted) {
		return nil
	}
	if a := l.public.take(&l.of(ip).public, now); a.Wait > 0 {
		return schema.TooManyRequests("too many requests from this address", a.Wait)
	}
	return nil
}

// takeWrongToken counts a request without a token, with a wrong token, or with a token that must be looked up. It
// refuses the request with 429 if there were too many.
func (l *addressLimits) takeWrongToken(ip netip.Addr, now time.Time) error {
	if l.wrongToken.interval == 0 || Trusted(ip, l.trusted) {
		return nil
	}
	if a := l.wrongToken.take(&l.of(ip).wrongToken, now); a.Wait > 0 {
		return schema.TooManyRequests("too many requests without a good token from this address", a.Wait)
	}
	return nil
}

// giveBackWrongToken undoes takeWrongToken for a request whose token turned out to be valid.
func (l *addressLimits) giveBackWrongToken(ip netip.Addr) {
	if l.wrongToken.interval != 0 && !Trusted(ip, l.trusted) {
		l.wrongToken.giveBack(&l.of(ip).wrongToken)
	}
}

// Network returns the address by which limits identify a client. All IPv6 addresses of a /64 network give the same
// address, because one customer owns the network.
func Network(ip netip.Addr) netip.Addr {
	if ip.Is6() {
		if network, err := ip.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return ip
}

// Trusted reports whether `ip` is the address of a trusted proxy. Such a proxy names the client in forwarding headers.
func Trusted(ip netip.Addr, trusted []netip.Prefix) bool {
	for _, prefix := range trusted {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}
