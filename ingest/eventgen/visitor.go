package eventgen

import "strconv"

// A visitor is just a number. All traits of the visitor are derived from this number, so the traits are the same in
// every session and need no memory.

// appendSession appends the session member of a visitor's events. The visitor's properties are drawn from the random
// source `traits`, and the session's properties from `visit`.
func (g *Generator) appendSession(
	dst []byte, traits, visit uint64, agents []chosen, referrer string, person bool,
) []byte {
	dst = append(dst, `"session":{"visitorId":"`...)
	dst = appendID(dst, mix(traits), 20)
	dst = append(dst, `","sessionId":"`...)
	dst = appendID(dst, visit, 20)
	dst = append(dst, `","cookies":{`...)
	if person && traits&7 == 0 {
		dst = append(dst, `"theme":"dark"`...)
	}
	dst = append(dst, `},"ip":"`...)
	dst = appendIP(dst, mix(traits+1))
	dst = append(dst, `","userAgent":`...)
	agent := agents[mix(traits+2)%uint64(len(agents))]
	g.class = agent.class
	g.totals.visitor(agent.class, traits)
	dst = append(dst, agent.text...)
	dst = append(dst, `,"language":`...)
	if person {
		dst = append(dst, languages[mix(traits+3)%uint64(len(languages))]...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"referrer":`...)
	dst = append(dst, referrer...)
	if bits := mix(traits + 4); person && bits%5 == 0 {
		dst = appendClaims(dst, bits/5)
	}
	return append(dst, '}')
}

// appendIP appends an address of a public network. Four of five addresses are IPv4.
func appendIP(dst []byte, bits uint64) []byte {
	if bits%5 == 0 {
		dst = append(dst, "2001:4860:"...)
		for i := range 4 {
			if i > 0 {
				dst = append(dst, ':')
			}
			dst = strconv.AppendUint(dst, (bits>>(16*i))&0xffff|1, 16)
		}
		return append(dst, "::1"...)
	}
	// `first` has the first octets of internet providers' networks. It has no octet of a private or reserved network.
	first := []byte{24, 31, 46, 62, 73, 81, 86, 91, 98, 109, 126, 133, 151, 176, 188, 201, 213}
	dst = strconv.AppendUint(dst, uint64(first[bits%uint64(len(first))]), 10)
	for i := 1; i < 4; i++ {
		dst = append(dst, '.')
		dst = strconv.AppendUint(dst, 1+(bits>>(8*i))&0xff%254, 10)
	}
	return dst
}

var (
	plans  = []string{"free", "free", "free", "team", "team", "business", "enterprise"}
	roles  = []string{"developer", "developer", "admin", "viewer", "billing"}
	realms = []string{"eu", "us", "us", "apac"}
)

func appendClaims(dst []byte, bits uint64) []byte {
	dst = append(dst, `,"visitorAuthClaims":{"plan":"`...)
	dst = append(dst, plans[bits%7]...)
	dst = append(dst, `","role":"`...)
	dst = append(dst, roles[bits>>8%5]...)
	dst = append(dst, `","beta":`...)
	dst = strconv.AppendBool(dst, bits>>16&3 == 0)
	dst = append(dst, `,"account":{"region":"`...)
	dst = append(dst, realms[bits>>20&3]...)
	dst = append(dst, `","seats":`...)
	dst = strconv.AppendUint(dst, 1+bits>>24%200, 10)
	dst = append(dst, `},"products":["api"`...)
	if bits>>32&1 == 0 {
		dst = append(dst, `,"console"`...)
	}
	return append(dst, "]}"...)
}
