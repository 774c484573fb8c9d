package insights

import (
	"strconv"

	"golang.org/x/text/language"

	"github.com/octavo-docs/octavo/schema"
)

// statedPlace returns the visitor's place from three headers. A value that is not a country or not a pair of degrees is
// ignored, because the visitor did not cause it. The place has no continent, because the country determines it.
func statedPlace(country, latitude, longitude string) (place schema.Place) {
	if len(country) == 2 {
		if region, err := language.ParseRegion(country); err == nil && region.IsCountry() {
			place.Country = region.Canonicalize().String()
		}
	}
	north, ok := degrees(latitude, 90)
	east, ok2 := degrees(longitude, 180)
	if ok && ok2 {
		place.Latitude, place.Longitude, place.HasPoint = north, east, true
	}
	return place
}

func degrees(text string, most float64) (float32, bool) {
	if text == "" || len(text) > 32 {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return float32(value), err == nil && value >= -most && value <= most
}
