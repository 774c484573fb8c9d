package intake

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// These functions encode the parts of a MaxMind database that the tests need (see "MaxMind DB File Format
// Specification"). A text must be shorter than 29 bytes, and a map must have fewer than 29 members.
func dbText(s string) []byte { return append([]byte{2<<5 | byte(len(s))}, s...) }
func dbDouble(f float64) []byte {
	return binary.BigEndian.AppendUint64([]byte{3<<5 | 8}, math.Float64bits(f))
}
func dbUint16(n uint16) []byte { return binary.BigEndian.AppendUint16([]byte{5<<5 | 2}, n) }
func dbUint32(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{6<<5 | 4}, n) }
func dbUint64(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{8, 9 - 7}, n) }

func dbMap(members ...[]byte) []byte {
	return append([]byte{7<<5 | byte(len(members)/2)}, bytes.Join(members, nil)...)
}

// placesFile writes a database of IPv4 addresses. All addresses below 128.0.0.0 have the given data, and all other
// addresses have none.
func placesFile(t testing.TB, data []byte) string {
	t.Helper()
	const nodes = 1
	// The tree has one node of two 24-bit records. The left record points to the data after the tree and the separator
	// of 16 bytes. The right record means "no data".
	file := []byte{0, 0, nodes + 16, 0, 0, nodes}
	file = append(file, make([]byte, 16)...)
	file = append(file, data...)
	file = append(file, "\xab\xcd\xefMaxMind.com"...)
	file = append(file, dbMap(
		dbText("node_count"), dbUint32(nodes), dbText("record_size"), dbUint16(24), dbText("ip_version"), dbUint16(4),
		dbText("database_type"), dbText("Test"), dbText("binary_format_major_version"), dbUint16(2),
		dbText("binary_format_minor_version"), dbUint16(0), dbText("build_epoch"), dbUint64(1_700_000_000))...)
	path := filepath.Join(t.TempDir(), "places.mmdb")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openPlaces(t testing.TB, data []byte) *Places {
	t.Helper()
	p, err := OpenPlaces(placesFile(t, data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

var city = dbMap(
	dbText("country"), dbMap(dbText("iso_code"), dbText("DE")),
	dbText("location"), dbMap(dbText("latitude"), dbDouble(52.5), dbText("longitude"), dbDouble(-13.25)))

func TestPlaces(t *testing.T) {
	t.Parallel()
	inside, outside := netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("200.1.1.1")
	for name, c := range map[string]struct {
		data []byte
		want Place
		ok   bool
	}{
		"city":             {city, Place{Country: "DE", Latitude: 52.5, Longitude: -13.25, HasPoint: true}, true},
		"country":          {dbMap(dbText("country"), dbMap(dbText("iso_code"), dbText("FR"))), Place{Country: "FR"}, true},
		"flat, lower case": {dbMap(dbText("country_code"), dbText("fr")), Place{Country: "FR"}, true},
		"half a point":     {dbMap(dbText("location"), dbMap(dbText("latitude"), dbDouble(1))), Place{}, false},
		"no such degree":   {dbMap(dbText("location"), dbMap(dbText("latitude"), dbDouble(91), dbText("longitude"), dbDouble(0))), Place{}, false},
		"0°, 0°":           {dbMap(dbText("location"), dbMap(dbText("latitude"), dbDouble(0), dbText("longitude"), dbDouble(0))), Place{HasPoint: true}, true},
		"odd code":         {dbMap(dbText("country_code"), dbText("1!")), Place{}, false},
		"something else":   {dbText("?"), Place{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := openPlaces(t, c.data)
			if got, ok := p.Locate(inside); got != c.want || ok != c.ok {
				t.Errorf("%s: got %+v, %v, want %+v, %v", name, got, ok, c.want, c.ok)
			}
			if got, ok := p.Locate(outside); ok {
				t.Errorf("%s: got %+v for an address that it does not have", name, got)
			}
			if _, ok := p.Locate(netip.Addr{}); ok {
				t.Errorf("%s: found no address", name)
			}
			if _, ok := p.Locate(netip.MustParseAddr("2001:db8::1")); ok {
				t.Errorf("%s: found an IPv6 address", name)
			}
		})
	}
}

// TestStatedPlace checks that a place which a trusted sender names replaces the place of the address completely.
func TestStatedPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stated  Place
		session string
		country any
		point   bool
	}{
		"nothing":              {Place{}, "", "FR", false},
		"nothing, own address": {Place{}, `,"ip":"203.0.113.7"`, "DE", true},
		"a country":            {Place{Country: "IT"}, "", "IT", false},
		"and an own address":   {Place{Country: "IT"}, `,"ip":"203.0.113.7"`, "IT", false},
		"a point":              {Place{Latitude: 1, Longitude: 2, HasPoint: true}, "", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			log := &ingesttest.MemoryLog{}
			client := testClient
			client.Place = c.stated
			event := ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s"`+c.session+`}`)
			if err := newTestIntake(t, log, nil).Accept(t.Context(), testSite, []byte(ingesttest.Events(event, event)), client); err != nil {
				t.Fatal(err)
			}
			for _, got := range ingesttest.RowsOf(t, log.Messages[0]) {
				if _, point := got["latitude"]; got["country"] != c.country || point != c.point {
					t.Errorf("%v", got)
				}
			}
		})
	}
}

func TestPlacesFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.mmdb")
	if _, err := OpenPlaces(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPlaces(path); err == nil {
		t.Error("junk was opened")
	}
}
