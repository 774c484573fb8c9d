package intake

import (
	"net/netip"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

var (
	classPerson  = code(insights.AgentClasses, "person")
	classUnknown = code(insights.AgentClasses, "unknown")

	agentClaimed  = code(insights.AgentVerifications, "claimed")
	agentVerified = code(insights.AgentVerifications, "verified")
	agentImpostor = code(insights.AgentVerifications, "impostor")
)

// classify determines the kind of program that the agent is. A person has no bot, and every other class has a bot.
func (a *agent) classify(text string) {
	found, listed := agentlist.Embedded().Find(text)
	switch {
	case listed:
		a.program = found
	case a.bot != 0 || isProgram(text):
		a.program = agentlist.Agent{Class: classUnknown}
	default:
		a.program = agentlist.Agent{Class: classPerson}
	}
	if a.bot == 0 && a.program.Class != classPerson {
		a.bot = botUnknown
	}
}

// isProgram reports whether the agent is a program other than a browser. Browsers begin with Mozilla/; old versions of
// Opera begin with Opera/. Only browsers of the 1990s contain the word compatible.
func isProgram(text string) bool {
	if !strings.HasPrefix(text, "Mozilla/") {
		return !strings.HasPrefix(text, "Opera/")
	}
	return strings.Contains(text, "compatible;") && !hasAny(text, compatibleBrowsers)
}

var compatibleBrowsers = []string{"MSIE ", "Konqueror/"}

// verify determines how an agent's name agrees with its operator's published addresses. It is 0 for people, and for
// events without a user agent. own is true if ip is the visitor's address. Otherwise ip may be a server that reports
// other visitors' agents. Such agents are not impostors.
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
