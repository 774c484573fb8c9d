package intake

import (
	"fmt"
	"testing"
	"time"

	"github.com/bytedance/sonic"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// wireEvent is the plain struct that an ordinary handler would decode into.
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

// BenchmarkIntake measures all of Accept except the log: decode, validate, enrich
// and encode. Its budget is the time of BenchmarkSonicDecode / 0.7.
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

// BenchmarkSonicDecode is the baseline for BenchmarkIntake.
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

// BenchmarkIntakeRatio alternates between the two, so that a busy machine slows
// both, and reports the speed of the intake relative to the plain decode: for
// the quickest turns (quickest) and for all turns (overall). The budget is 0.7.
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
