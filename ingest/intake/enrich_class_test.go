package intake

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestAgentClasses checks the class of each user agent in testdata/agents.txt. The file has user agents of real
// programs, with several rows for every class.
func TestAgentClasses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/agents.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		seen[row[0]]++
		t.Run(row[2], func(t *testing.T) {
			a := newAgents(16).find(row[2])
			class, operator := insights.AgentClasses.Word(a.program.Class), a.program.Operator
			if class != row[0] || operator != row[1] {
				t.Errorf("%q is %s of %q, want %s of %q", row[2], class, operator, row[0], row[1])
			}
			if (class == "person") != (a.bot == 0) {
				t.Errorf("%q is %s and the bot %q", row[2], class, insights.Bots.Word(a.bot))
			}
		})
	}
	for _, class := range insights.AgentClasses.Words() {
		if seen[class] < 4 {
			t.Errorf("%d rows of the class %s", seen[class], class)
		}
	}
}

// TestPeopleHaveNoBot checks for random user agents that the bot is 0 if and only if the class is person.
func TestPeopleHaveNoBot(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{
		"Mozilla/5.0 ", "Opera/9.8 ", "(compatible; ", "MSIE 9.0", "X11; ", "bot", "Cubot ", "GPTBot", "curl/8", "Go-http-client", "Chrome/1 ", "Safari", ")", ";",
		"Mobile/15E148", "(iPhone; ", "CFNetwork/", "HeadlessChrome", "é", "\x00", "WhatsApp", "Firefox/9",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(part, rapid.String()), 1, 12).Draw(t, "agent"), "")
		if text == "" {
			return
		}
		if a := newAgents(2).find(text); a.program.Class == 0 || (a.program.Class == classPerson) != (a.bot == 0) {
			t.Fatalf("%q: %+v", text, a)
		}
	})
}

// TestVerification checks whether an agent is verified. Its address is inside or outside of its operator's networks,
// and the time is near to or far from the list's date.
func TestVerification(t *testing.T) {
	t.Parallel()
	date := testNow.Add(-10 * 24 * time.Hour).Format(time.DateOnly)
	fresh, err := agentlist.ParseRanges("set\topenai-gptbot\t" + date + "\thttps://openai.com/gptbot.json\n192.0.2.0/25\n2001:db8:1::/48\n")
	if err != nil {
		t.Fatal(err)
	}
	const (
		gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
		chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Chrome/142.0.0.0 Safari/537.36"
		cursor = "Cursor/1.7.28 (darwin arm64)"
		claude = "claude-code/2.0.14 (external, cli)"
	)
	now := testNow.Format(time.RFC3339)
	ago := func(days int) string {
		return testNow.Add(-time.Duration(days) * 24 * time.Hour).Format(time.RFC3339)
	}
	for name, c := range map[string]struct{ agent, sent, sender, at, want string }{
		"of the operator":                {gptbot, "192.0.2.100", "203.0.113.9", now, "verified"},
		"of the operator, IPv6":          {gptbot, "2001:db8:1:2::3", "203.0.113.9", now, "verified"},
		"of the operator, mapped":        {gptbot, "::ffff:192.0.2.1", "203.0.113.9", now, "verified"},
		"of another":                     {gptbot, "192.0.2.128", "203.0.113.9", now, "impostor"},
		"of another, IPv6":               {gptbot, "2001:db8:2::1", "203.0.113.9", now, "impostor"},
		"of the sender":                  {gptbot, "", "192.0.2.7", now, "verified"},
		"of another sender":              {gptbot, "", "203.0.113.9", now, "claimed"}, // a server that reports others
		"of no address":                  {gptbot, "unknown", "192.0.2.7", now, "claimed"},
		"49 days before the list":        {gptbot, "203.0.113.9", "203.0.113.9", ago(59), "impostor"},
		"61 days before the list":        {gptbot, "203.0.113.9", "203.0.113.9", ago(71), "claimed"},
		"of the operator, at any time":   {gptbot, "192.0.2.3", "203.0.113.9", ago(300), "verified"},
		"a person":                       {chrome, "192.0.2.3", "203.0.113.9", now, ""},
		"without published addresses":    {cursor, "192.0.2.3", "203.0.113.9", now, "claimed"},
		"Claude Code publishes none":     {claude, "203.0.113.9", "203.0.113.9", now, "claimed"},
		"no agent":                       {"", "192.0.2.3", "203.0.113.9", now, ""},
		"a list that has no address yet": {"Mozilla/5.0 (compatible; bingbot/2.0)", "203.0.113.9", "203.0.113.9", now, "claimed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, nil)
			in.UseRanges(fresh)
			client := testClient
			client.IP, client.AnyPast = netip.MustParseAddr(c.sender), true
			body := ingesttest.Events(fmt.Sprintf(`{"type":"page_view","timestamp":%q,`+
				`"session":{"visitorId":"v","sessionId":"s","userAgent":%q,"ip":%q},`+
				`"location":{"url":"https://d.example/p"}}`, c.at, c.agent, c.sent))
			if err := in.Accept(t.Context(), testSite, []byte(body), client); err != nil {
				t.Fatal(err)
			}
			got, _ := ingesttest.RowsOf(t, log.Messages[0])[0]["agent_verified"].(insights.Code)
			if word := insights.AgentVerifications.Word(got); word != c.want {
				t.Errorf("%q, want %q", word, c.want)
			}
		})
	}
}

func TestContentForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, context, url, want string }{
		{"page_view", "site", "https://d.example", "html"},
		{"page_view", "site", "https://d.example/a", "html"},
		{"page_view", "site", "https://d.example/a.md", "markdown"},
		{"page_view", "server", "https://d.example/a.MD?x=1#y", "markdown"},
		{"page_view", "site", "https://d.example/a?file=b.md", "html"},
		{"page_view", "site", "https://d.example/a#b.md", "html"},
		{"page_view", "site", "https://example.md", "html"}, // a host in Moldova's top-level domain
		{"page_view", "site", "https://example.md?x", "html"},
		{"page_view", "server", "https://d.example/llms.txt", "llms"},
		{"page_view", "server", "https://d.example/docs/llms-full.txt", "llms"},
		{"page_view", "server", "https://d.example/feed.xml", "rss"},
		{"page_view", "server", "https://d.example/openapi.json", "api"},
		{"page_view", "server", "https://d.example/api/openapi", "html"},
		{"page_view", "mcp", "https://d.example/a", "mcp"},
		{"page_markdown_request", "server", "https://d.example/a", "markdown"},
		{"llms_request", "server", "https://d.example/a", "llms"},
		{"mcp_request", "site", "https://d.example/a", "mcp"},
		{"rss_request", "server", "https://d.example/a", "rss"},
		{"link_click", "site", "https://d.example/a", "html"},
	} {
		t.Run(c.kind+" "+c.url, func(t *testing.T) {
			e := insights.Event{URL: c.url}
			e.Type, e.DisplayContext = code(insights.EventTypes, c.kind), code(insights.DisplayContexts, c.context)
			if got := insights.ContentForms.Word(formOf(&e)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
