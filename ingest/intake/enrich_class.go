package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

var (
	classPerson  = code(insights.AgentClasses, "person")
	classUnknown = code(insights.AgentClasses, "unknown")
)

// classify sets `program` for a user agent. It also makes `bot` agree: `bot` is 0 only for the class person.
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

// isProgram reports whether a user agent belongs to a program other than a browser. User agents of browsers begin with
// Mozilla/, or with Opera/ in old versions of Opera. Only browsers of the 1990s have the word "compatible" in them.
func isProgram(text string) bool {
	if !strings.HasPrefix(text, "Mozilla/") {
		return !strings.HasPrefix(text, "Opera/")
	}
	return strings.Contains(text, "compatible;") && !hasAny(text, compatibleBrowsers)
}

var compatibleBrowsers = []string{"MSIE ", "Konqueror/"}
