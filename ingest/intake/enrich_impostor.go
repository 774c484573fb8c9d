package intake

import (
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

var (
	agentClaimed  = code(insights.AgentVerifications, "claimed")
	agentVerified = code(insights.AgentVerifications, "verified")
	agentImpostor = code(insights.AgentVerifications, "impostor")
)

// verify returns whether an agent is verified, only claimed, or an impostor. An impostor has the name of a known bot,
// and an address that the bot's operator does not publish. The result is 0 for people, and for events without a user
// agent. `own` is true if ip is certainly the visitor's address. Otherwise ip may be the address of a server that
// reports other visitors' agents, so the agent never counts as an impostor.
func verify(a *agent, ranges *agentlist.Ranges, ip netip.Addr, own bool, millis int64) insights.Code {
	switch set := a.program.Ranges; {
	case a.program.Class == 0 || a.program.Class == classPerson:
		return 0
	case set == 0:
		return agentClaimed
	case ranges.Has(set, ip):
		return agentVerified
	case own && ip.IsValid() && ranges.Holds(set, time.UnixMilli(millis)):
		return agentImpostor
	}
	return agentClaimed
}
