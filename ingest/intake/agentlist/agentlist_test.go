package agentlist

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestFind compares the result of Find with a search of all rows, for texts that contain the parts of some rows.
func TestFind(t *testing.T) {
	t.Parallel()
	l := Embedded()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			row := l.rows[rapid.IntRange(0, len(l.rows)-1).Draw(t, "row")]
			parts := []string{row.part, row.exact, strings.ToUpper(row.part), " ", "Mozilla/5.0 (", "é"}
			part := rapid.SampledFrom(parts).Draw(t, "part")
			text.WriteString(part[:rapid.IntRange(0, len(part)).Draw(t, "length")])
		}
		s := text.String()[:min(text.Len(), maxText)]
		var want Agent
		has := false
		for _, row := range l.rows {
			if strings.Contains(lower(s), row.part) && strings.Contains(s, row.exact) {
				want, has = row.agent, true
				break
			}
		}
		if got, found := l.Find(s); got != want || found != has {
			t.Fatalf("%q: %+v %v, want %+v %v", s, got, found, want, has)
		}
	})
}

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
	"Chrome/142.0.0.0 Safari/537.36"

// TestFindDoesNotAllocate checks that Find allocates no memory.
func TestFindDoesNotAllocate(t *testing.T) {
	l := Embedded()
	if n := testing.AllocsPerRun(100, func() { l.Find(chrome) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFind(b *testing.B) {
	l := Embedded()
	b.ReportAllocs()
	for b.Loop() {
		l.Find(chrome)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"# nothing\n\n":             "",
		"tool\tcurl\tcurl/\n":       "",
		"tool\t\tcurl/":             "",
		"tool\tcurl\n":              "line 1 of the list of agents: must have a class",
		"\nthing\t\tcurl/\n":        `line 2 of the list of agents: has the unknown class "thing"`,
		"tool\t\tab\n":              "line 1 of the list of agents: has a part of less than 3 bytes",
		"tool\t\tcurl\tnowhere\n":   `line 1 of the list of agents: has the unknown set of addresses "nowhere"`,
		"tool\t\tcurl\tbingbot\tx ": "line 1 of the list of agents: must have a class",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Parse(text)
			if got := message(err); !strings.HasPrefix(got, want) || (want == "") != (err == nil) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseRanges(t *testing.T) {
	t.Parallel()
	const head = "set\tbingbot\t2026-01-02\thttps://bing.example/\n"
	for text, want := range map[string]string{
		"": "",
		head + "192.0.2.0/24\n# note\n\n2001:db8::/32\n": "",
		"set\tbingbot\t-\thttps://bing.example/\n":       "",
		head:                                    "the set bingbot must have addresses exactly if it has a date",
		head + "192.0.2.1/24\n":                 "line 2 of the addresses of agents: has 192.0.2.1/24, which is not the start of a network",
		head + "192.0.2.1\n":                    "line 2 of the addresses of agents: has no network",
		head + "0.0.0.0/0\n":                    "line 2 of the addresses of agents: has 0.0.0.0/0, which is larger",
		head + "::/0\n":                         "line 2 of the addresses of agents: has ::/0, which is larger",
		head + "10.0.0.0/8\n":                   "line 2 of the addresses of agents: has 10.0.0.0/8, which is not of the public internet",
		head + "127.0.0.0/8\n":                  "line 2 of the addresses of agents: has 127.0.0.0/8, which is not of the public internet",
		head + head:                             "line 2 of the addresses of agents: has the set bingbot again",
		"192.0.2.0/24\n":                        "line 1 of the addresses of agents: has an address before the first set",
		"set\tbingbot\tx\ty\n":                  "line 1 of the addresses of agents: has a date that is not a day",
		"set\tbingbot\n":                        "line 1 of the addresses of agents: must have the set's name",
		"set\tnobody\t-\thttps:\n":              `the addresses of agents have the unknown set "nobody"`,
		"set\tbingbot\t-\thttps:\n192.0.2.0/24": "the set bingbot must have addresses exactly if it has a date",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseRanges(text)
			if got := message(err); !strings.HasPrefix(got, want) || (want == "") != (err == nil) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestHas compares the result of Has with the result of looking for the address in each network of the set.
func TestHas(t *testing.T) {
	t.Parallel()
	addr := rapid.Custom(func(t *rapid.T) netip.Addr {
		if rapid.Bool().Draw(t, "six") {
			var b [16]byte
			b[0], b[1], b[15] = 0x20, 1, rapid.Byte().Draw(t, "last")
			return netip.AddrFrom16(b)
		}
		return netip.AddrFrom4([4]byte{203, 0, rapid.ByteRange(0, 3).Draw(t, "third"), rapid.Byte().Draw(t, "last")})
	})
	rapid.Check(t, func(t *rapid.T) {
		var list []netip.Prefix
		for range rapid.IntRange(0, 12).Draw(t, "networks") {
			a := addr.Draw(t, "network")
			list = append(list, netip.PrefixFrom(a, a.BitLen()-rapid.IntRange(0, 8).Draw(t, "size")).Masked())
		}
		r := &Ranges{sets: []rangeSet{{spans: spansOf(list)}}}
		for range 20 {
			ip := addr.Draw(t, "address")
			want := false
			for _, p := range list {
				want = want || p.Contains(ip)
			}
			if got := r.Has(1, ip); got != want || r.Has(0, ip) {
				t.Fatalf("%s in %s: %v, want %v", ip, list, got, want)
			}
		}
	})
}

// TestHolds checks that a set counts as complete only at times near its date.
func TestHolds(t *testing.T) {
	t.Parallel()
	r := EmbeddedRanges()
	gptbot, _ := setOf("openai-gptbot")
	date := r.sets[gptbot-1].date
	for after, want := range map[time.Duration]bool{MaxAge - 1: true, 1 - MaxAge: true, MaxAge: false, -MaxAge: false} {
		if r.Holds(gptbot, date.Add(after)) != want {
			t.Errorf("%s after %s: %v", after, date, !want)
		}
	}
	if bing, _ := setOf("bingbot"); r.Holds(bing, time.Now()) || r.Holds(0, time.Now()) {
		t.Error("a set without addresses holds")
	}
}

// TestEmbedded checks the embedded data: every set of addresses is used by an agent, and each class of programs has
// rows.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	used, classes := map[Set]bool{}, map[insights.Code]bool{}
	for _, row := range Embedded().rows {
		used[row.agent.Ranges], classes[row.agent.Class] = true, true
	}
	for i, s := range EmbeddedRanges().sets {
		if !used[Set(i+1)] || !strings.HasPrefix(s.url, "https://") {
			t.Errorf("the set %s is no agent's, or has no address", s.name)
		}
	}
	for _, class := range insights.AgentClasses.Words() {
		if code, _ := insights.AgentClasses.Code(class); classes[code] == (class == "person") {
			t.Errorf("rows of the class %s: %v", class, classes[code])
		}
	}
}
