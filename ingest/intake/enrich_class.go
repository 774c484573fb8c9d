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
