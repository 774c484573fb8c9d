package intake

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bytedance/sonic"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// wireEvent is the struct into which an ordinary handler would decode an event.
type wireEvent struct {
	Type    string `json:"type"`
	Session struct {
		VisitorID         string            `json:"visitorId"`
		SessionID         string            `json:"sessionId"`
		Cookies           map[string]string `json:"cookies"`
		IP                string            `json:"ip"`
		UserAgent         string            `json:"userAgent"`
		Language          *string           `json:"language"`
		Referrer          *string           `json:"referrer"`
		VisitorAuthToken  *string           `json:"visitorAuthToken"`
		VisitorAuthClaims map[string]any    `json:"visitorAuthClaims"`
	} `json:"session"`
	Location struct {
		URL            string  `json:"url"`
		DisplayContext string  `json:"displayContext"`
		SiteSection    *string `json:"siteSection"`
		SiteSpace      *string `json:"siteSpace"`
		SiteShareKey   *string `json:"siteShareKey"`
		Space          *string `json:"space"`
		Revision       *string `json:"revision"`
		Page           *string `json:"page"`
	} `json:"location"`
	Timestamp string `json:"timestamp"`
	Query     string `json:"query"`
}

// BenchmarkIntake measures all of Accept except the log: it decodes, validates, enriches and encodes events. Its time
// must not be more than the time of BenchmarkSonicDecode divided by 0.7.
func BenchmarkIntake(b *testing.B) {
	for _, n := range ingesttest.BodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := newTestIntake(b, discardLog{}, nil)
			body := ingesttest.TypicalBody(n)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := in.Accept(b.Context(), testSite, body, testClient); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

// BenchmarkDoor measures all of AcceptDoor except the log, with a new visitor in each batch.
func BenchmarkDoor(b *testing.B) {
	for _, n := range []int{1, 10, doorMaxEvents} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := newDoor(b, discardLog{}, func(c *Config) { c.DoorSessions = 0 })
			body := browserBatch(strings.Repeat(typicalBrowserEvent+",", n-1) + typicalBrowserEvent)
			door := testDoor
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for i := uint32(0); b.Loop(); i++ {
				door.IP = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
				if err := in.AcceptDoor(b.Context(), testSite, body, door); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

// typicalBrowserEvent is an event of a browser with as many members as a tracker sends.
const typicalBrowserEvent = `{"type":"page_view","age":1500,"url":"https://d.example/guides/install?utm_source=newsletter",` +
	`"referrer":"https://www.google.com/","language":"en-US","title":"Install"}`

// BenchmarkSonicDecode measures only decoding, with the library sonic, for comparison with BenchmarkIntake.
func BenchmarkSonicDecode(b *testing.B) {
	for _, n := range ingesttest.BodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			body := ingesttest.TypicalBody(n)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				sonicDecode(b, body, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

func sonicDecode(b *testing.B, body []byte, n int) {
	var v struct {
		Events []wireEvent `json:"events"`
	}
	if err := sonic.ConfigDefault.Unmarshal(body, &v); err != nil || len(v.Events) != n {
		b.Fatal(err, len(v.Events))
	}
}

// BenchmarkIntakeRatio alternates between the intake and only decoding, so that a busy machine slows down both. It
// reports the speed of the intake divided by the speed of decoding: for the fastest turns (quickest), and for all turns
// (overall). The ratio must be at least 0.7.
func BenchmarkIntakeRatio(b *testing.B) {
	for _, n := range ingesttest.BodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := newTestIntake(b, discardLog{}, nil)
			body := ingesttest.TypicalBody(n)
			turn := max(1, 200/n)
			work := [2]func(){
				func() {
					if err := in.Accept(b.Context(), testSite, body, testClient); err != nil {
						b.Fatal(err)
					}
				},
				func() { sonicDecode(b, body, n) },
			}
			var all, least [2]time.Duration
			for b.Loop() {
				for i := range work {
					start := time.Now()
					for range turn {
						work[i]()
					}
					took := time.Since(start)
					all[i] += took
					if least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			b.ReportMetric(float64(least[1])/float64(least[0]), "quickest")
			b.ReportMetric(float64(all[1])/float64(all[0]), "overall")
			b.ReportMetric(float64(least[0].Nanoseconds())/float64(turn*n), "ns/event")
		})
	}
}
