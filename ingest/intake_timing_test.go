package ingest

import (
	"fmt"
	"testing"
	"time"

	"github.com/bytedance/sonic"
)

// wireEvent is what a handler that decodes into a plain struct would have.
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

// typicalEvent is about 600 bytes, as the published client sends it.
func typicalEvent(i int) string {
	return fmt.Sprintf(`{"type":"page_view","session":{"visitorId":"8a7f2c1e-55d0-4b7e-9c1a-%012d","sessionId":"c0ffee00-1234-4321-abcd-%012d",`+
		`"cookies":{},"ip":"203.0.113.7","userAgent":"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",`+
		`"language":"en-US","referrer":"https://www.google.com/"},`+
		`"location":{"url":"https://docs.example.com/guides/getting-started/install?utm_source=newsletter&utm_medium=email","displayContext":"site",`+
		`"siteSection":"sitesc_Ab3dE","siteSpace":"sitesp_9xYz1","siteShareKey":null,"space":"tR5uKz0LqWnEvB2yHc7D","revision":"rev_%d","page":"pg_%d"},`+
		`"timestamp":"2026-03-04T05:06:%02d.123Z"}`, i%5000, i%9000, i%7, i%300, i%7)
}

func typicalBody(n int) []byte {
	list := make([]string, n)
	for i := range list {
		list[i] = typicalEvent(i)
	}
	return []byte(events(list...))
}

var bodySizes = []int{1, 10, 100}

// BenchmarkIntake is all of Accept but the log: decode, validate, enrich and
// encode. Its budget is BenchmarkSonicDecode's time / 0.7.
func BenchmarkIntake(b *testing.B) {
	for _, n := range bodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := newTestIntake(b, discardLog{}, nil)
			body := typicalBody(n)
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

// BenchmarkSonicDecode is what the intake is compared with.
func BenchmarkSonicDecode(b *testing.B) {
	for _, n := range bodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			body := typicalBody(n)
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

// BenchmarkIntakeRatio takes turns with the two, so that a busy machine slows
// both, and reports how fast the intake is against the plain decode: of the
// quickest turns (quickest) and of all (overall). The budget is 0.7.
func BenchmarkIntakeRatio(b *testing.B) {
	for _, n := range bodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := newTestIntake(b, discardLog{}, nil)
			body := typicalBody(n)
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
