package intake

import (
	"fmt"
	"math"
	"net/netip"
	"sync"

	"github.com/oschwald/maxminddb-golang/v2"
)

// Place is the place of an IP address. Its strings remain valid after the lookup.
type Place struct {
	Country             string // ISO 3166-1 alpha-2, upper case; "" if unknown
	Latitude, Longitude float32
	HasPoint            bool
}

// Locator finds the places of IP addresses. Many requests call it concurrently. It must not allocate.
type Locator interface {
	Locate(ip netip.Addr) (Place, bool)
}

// Places is a Locator that reads a database file in MaxMind's format.
type Places struct {
	db *maxminddb.Reader
	// countries has every combination of two letters, so that a lookup returns an existing string and allocates
	// nothing.
	countries map[[2]byte]string
}

// OpenPlaces opens a database of countries or cities. The file is mapped into memory. To replace it, rename a new file
// to the path and restart the node.
func OpenPlaces(path string) (*Places, error) {
	db, err := maxminddb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the database of places %s: %w", path, err)
	}
	p := &Places{db: db, countries: make(map[[2]byte]string, 26*26)}
	for a := byte('A'); a <= 'Z'; a++ {
		for b := byte('A'); b <= 'Z'; b++ {
			p.countries[[2]byte{a, b}] = string([]byte{a, b})
		}
	}
	return p, nil
}

// Close closes the file. No lookup may follow.
func (p *Places) Close() error { return p.db.Close() }

// Locate implements [Locator]. Databases have the country in country.iso_code (GeoLite2, GeoIP2, DB-IP) or country_code
// (ip-location-db).
func (p *Places) Locate(ip netip.Addr) (Place, bool) {
	if !ip.IsValid() {
		return Place{}, false
	}
	found := p.db.Lookup(ip)
	if found.Err() != nil || !found.Found() {
		return Place{}, false
	}
	r := placeRecords.Get().(*placeRecord)
	defer placeRecords.Put(r)
	*r = placeRecord{latitude: noDegrees, longitude: noDegrees}
	// If the database lacks a path, DecodePath leaves the field unchanged. An error about a value's type is ignored,
	// because the database causes it, and not the request.
	_ = found.DecodePath(&r.iso, pathISO...)
	_ = found.DecodePath(&r.flat, pathFlat...)
	_ = found.DecodePath(&r.latitude, pathLatitude...)
	_ = found.DecodePath(&r.longitude, pathLongitude...)
	var place Place
	if r.iso == "" {
		r.iso = r.flat
	}
	if len(r.iso) == 2 {
		place.Country = p.countries[[2]byte{r.iso[0] &^ 0x20, r.iso[1] &^ 0x20}]
	}
	if math.Abs(r.latitude) <= 90 && math.Abs(r.longitude) <= 180 {
		place.Latitude, place.Longitude, place.HasPoint = float32(r.latitude), float32(r.longitude), true
	}
	return place, place.Country != "" || place.HasPoint
}

// placeRecord is filled by a lookup. The records are pooled, so that lookups allocate nothing.
type placeRecord struct {
	iso, flat           string
	latitude, longitude float64
}

const noDegrees = 1000 // noDegrees stands for an absent coordinate, because 0 is a valid number of degrees

var (
	placeRecords  = sync.Pool{New: func() any { return new(placeRecord) }}
	pathISO       = []any{"country", "iso_code"}
	pathFlat      = []any{"country_code"}
	pathLatitude  = []any{"location", "latitude"}
	pathLongitude = []any{"location", "longitude"}
)
