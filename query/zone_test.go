package query

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestZoneIsGos checks Kazakhstan's zone, whose clocks were set back an hour on March 1, 2024. Local times in Almaty
// come from Go's zone data, and not from the engine's.
func TestZoneIsGos(t *testing.T) {
	t.Parallel()
	conn := store(t)
	event := fixture()[0]
	event.TimeMillis = time.Date(2024, 2, 29, 18, 30, 0, 0, time.UTC).UnixMilli()
	insert(t, conn, testSite, []insights.Event{event})
	body := []byte(`{"range":{"from":"2024-02-01T00:00:00Z","to":"2024-04-01T00:00:00Z"},"timezone":"Asia/Almaty",
		"select":[{"column":"datetime","interval":"day"},{"column":"datetime","interval":"hour"},{"column":"dayOfWeek"},{"column":"hourOfDay"}]}`)
	r, err := decode(reach{site: Site{ID: testSite}}, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		zone *time.Location
		want string
	}{
		{"after the change", almaty(t), `datetime: ["2024-02-29T00:00:00.000+06:00"]
datetime: ["2024-02-29T23:00:00.000+05:00"]
dayOfWeek: [4]
hourOfDay: [23]`},
		{"data from before the law", time.FixedZone("Asia/Almaty", 6*60*60), `datetime: ["2024-03-01T00:00:00.000+06:00"]
datetime: ["2024-03-01T00:00:00.000+06:00"]
dayOfWeek: [5]
hourOfDay: [0]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := resolve(r, testNow)
			if err != nil {
				t.Fatal(err)
			}
			p.env.Zone = insights.NewZone(c.zone, p.from, p.to)
			q := newService(conn).query(Aggregate, Caller{}, testSite)
			q.ends = time.Now().Add(time.Minute)
			answer, err := decide(p).answer(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := rowsText(t, answer); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func almaty(t *testing.T) *time.Location {
	t.Helper()
	l, err := insights.Location("Asia/Almaty")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
