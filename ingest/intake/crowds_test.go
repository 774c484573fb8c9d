package intake

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestCrowds checks a site whose batches come from one address with many user agents. The metric must count this site,
// and the log must have at most one warning about it each hour.
func TestCrowds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(i int) int // address returns the number of the address of batch i
		agents  int
		hidden  bool
	}{
		"one address":                     {func(int) int { return 0 }, 30, true},
		"one address, few agents":         {func(int) int { return 0 }, 19, false},
		"one address of 20":               {func(i int) int { return min(i%20, 1) * (i%20 + 1) }, 30, false},
		"98 %":                            {func(i int) int { return max(0, i%50-48) * i }, 60, true},
		"90 %":                            {func(i int) int { return max(0, i%10-8) * i }, 60, false},
		"each another":                    {func(i int) int { return i }, 60, false},
		"two addresses in turns":          {func(i int) int { return i % 2 }, 60, false},
		"the address changes in a window": {func(i int) int { return i / 128 }, 60, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			m := NewMetrics(prometheus.NewRegistry())
			crowds := newCrowds(slog.New(slog.NewTextHandler(&said, nil)), m)
			see := func(i int, now time.Time) {
				var b doorBatch
				ip := netip.AddrFrom4(
					[4]byte{10, byte(c.address(i) >> 16), byte(c.address(i) >> 8), byte(c.address(i))},
				)
				b.begin("s", &Door{IP: ip, UserAgent: fmt.Sprint("agent ", i%c.agents), Now: now}, &daySalts{})
				crowds.see("s", &b)
			}
			for i := range 4 * crowdBatches {
				see(i, testNow)
			}
			sites, warnings := 0, 0
			if c.hidden {
				sites, warnings = 1, 1
			}
			if got := int(testutil.ToFloat64(m.sitesOfOneAddress)); got != sites {
				t.Errorf("%d sites, want %d", got, sites)
			}
			if got := strings.Count(said.String(), "OCTAVO_TRUSTED_PROXIES"); got != warnings {
				t.Errorf("%d warnings, want %d: %s", got, warnings, said.String())
			}
			for i := range crowdBatches {
				see(i, testNow.Add(time.Hour))
			}
			if got := strings.Count(said.String(), "OCTAVO_TRUSTED_PROXIES"); got != 2*warnings {
				t.Errorf("%d warnings after an hour, want %d", got, 2*warnings)
			}
			// After the proxy is added to OCTAVO_TRUSTED_PROXIES, batches come from many addresses. Then the metric
			// must not count the site any more.
			c.address = func(i int) int { return i }
			for i := range 2 * crowdBatches {
				see(i, testNow)
			}
			if got := testutil.ToFloat64(m.sitesOfOneAddress); got != 0 {
				t.Errorf("%v sites at the end", got)
			}
		})
	}
}

// TestCrowdsAreBounded checks that a node has windows of a limited number of sites in memory.
func TestCrowdsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics(prometheus.NewRegistry())
	crowds := newCrowds(slog.New(slog.DiscardHandler), m)
	for i := range 2 * crowdSites {
		site := fmt.Sprint("site", i)
		for n := range 2 * crowdBatches {
			var b doorBatch
			b.begin(site, &Door{IP: testDoor.IP, UserAgent: fmt.Sprint(n % 30), Now: testNow}, &daySalts{})
			crowds.see(site, &b)
		}
	}
	if len(crowds.sites) != crowdSites || testutil.ToFloat64(m.sitesOfOneAddress) != crowdSites {
		t.Errorf("%d sites, %v with one address", len(crowds.sites), testutil.ToFloat64(m.sitesOfOneAddress))
	}
}
