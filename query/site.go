package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Site has the settings and hosts of a site that a query needs.
type Site struct {
	ID string
	// Hosts are the site's own hosts, for the columns channel and sourceName.
	Hosts []string
	// Timezone and WeekStart are the defaults for requests that do not set the time zone or the first day of weeks. ""
	// means UTC, and Monday.
	Timezone, WeekStart string
}

func (s Site) timezone() string { return cmp.Or(s.Timezone, insights.UTC.String()) }

func (s Site) weekStart() string { return cmp.Or(s.WeekStart, insights.WeekStarts()[0]) }

// key returns the part of a cached answer's key that distinguishes settings.
func (s Site) key() string {
	return fmt.Sprintf("zone: %s\nweeks: %s\n%s", s.timezone(), s.weekStart(), hostsKey(s.Hosts))
}

func hostsKey(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return "hosts: " + strings.Join(slices.Sorted(slices.Values(hosts)), " ") + "\n"
}
