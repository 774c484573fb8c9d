package intake

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"sync"

	"github.com/oschwald/maxminddb-golang/v2"
)

// Place is where an address is. Its strings outlive the lookup.
type Place struct {
	Country             string // ISO 3166-1 alpha-2, upper case; "" if unknown
	Latitude, Longitude float32
	HasPoint            bool
}

// Locator finds places by address. It is called by many requests at once and
// must not allocate.
type Locator interface {
	Locate(ip netip.Addr) (Place, bool)
}

// Places is a Locator over a MaxMind database file.
type Places struct {
	db *maxminddb.Reader
	// countries are all codes there can be, so that a lookup hands out one of
	// these strings and not one that it made.
	countries map[[2]byte]string
}

// OpenPlaces opens a database of countries or cities by its path. The file is
// mapped: replace it by renaming another over it, and restart.
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

// Close lets go of the file. No lookup may follow.
func (p *Places) Close() error { return p.db.Close() }

// Locate finds an address. Databases name the country in country.iso_code
// (GeoLite2, GeoIP2, DB-IP) or country_code (ip-location-db).
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
	// A path that the database does not have leaves its member as it is. One
	// that has another type there is no error of the request.
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

// placeRecord is what is read of a found address, and the paths to it. They
// are kept so that a lookup makes nothing.
type placeRecord struct {
	iso, flat           string
	latitude, longitude float64
}

const noDegrees = 1000 // an absent coordinate is not 0°

var (
	placeRecords  = sync.Pool{New: func() any { return new(placeRecord) }}
	pathISO       = []any{"country", "iso_code"}
	pathFlat      = []any{"country_code"}
	pathLatitude  = []any{"location", "latitude"}
	pathLongitude = []any{"location", "longitude"}
)

// Describe names the database, for the log line at the start.
func (p *Places) Describe() string {
	return strings.TrimSpace(p.db.Metadata.DatabaseType + " of " + p.db.Metadata.BuildTime().UTC().Format("2006-01-02"))
}
