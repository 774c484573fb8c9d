package frame

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
)

// requestIDs generates ids that are unique across processes. It reads random bytes only once, for the prefix of all ids
// of this process.
type requestIDs struct {
	prefix [8]byte
	next   atomic.Uint64
}

func newRequestIDs() *requestIDs {
	ids := &requestIDs{}
	_, _ = rand.Read(ids.prefix[:]) // crypto/rand.Read never fails: it ends the process instead.
	return ids
}

// append appends the id that the client sent if it is harmless, and a new id otherwise.
func (ids *requestIDs) append(dst, fromClient []byte) []byte {
	if saneRequestID(fromClient) {
		return append(dst, fromClient...)
	}
	var raw [16]byte
	copy(raw[:8], ids.prefix[:])
	binary.BigEndian.PutUint64(raw[8:], ids.next.Add(1))
	return hex.AppendEncode(dst, raw[:])
}

// saneRequestID reports whether an id is harmless. Long ids could fill the log, and other characters could forge log
// lines.
func saneRequestID(id []byte) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for _, c := range id {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && !bytes.ContainsRune([]byte("-_.:/+="), rune(c)) {
			return false
		}
	}
	return true
}

// clientIP returns the client's address, and whether the peer is trusted to state it. It reads X-Forwarded-For from
// right to left, because each proxy appends an entry on the right. It stops at the first address that is not a trusted
// proxy, because the addresses to its left may be forged. If frontEnd is true, a front end sent the request. The front
// end's own address is then treated as trusted, because it may state the addresses of its visitors.
func clientIP(ctx *fasthttp.RequestCtx, proxies []netip.Prefix, frontEnd bool) (ip netip.Addr, trusted bool) {
	if tcp, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		ip = tcp.AddrPort().Addr().Unmap()
	}
	trusted = access.Trusted(ip, proxies)
	if !trusted && !frontEnd {
		return ip, false
	}
	known := trusted
	forwarded := ctx.Request.Header.PeekAll("X-Forwarded-For")
	for i := len(forwarded) - 1; i >= 0; i-- {
		list := forwarded[i]
		for len(list) > 0 {
			if !known {
				if !frontEnd {
					return ip, trusted
				}
				frontEnd = false
			}
			cut := bytes.LastIndexByte(list, ',')
			hop, err := netip.ParseAddr(string(bytes.TrimSpace(list[cut+1:])))
			if err != nil {
				return ip, trusted
			}
			ip = hop.Unmap()
			known = access.Trusted(ip, proxies)
			list = list[:max(cut, 0)]
		}
	}
	return ip, trusted
}
