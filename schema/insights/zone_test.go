package insights

import (
	"testing"
	"time"
)

// someZones has zones of all kinds: offsets with half and quarter hours, changes at midnight or by half an hour, a
// skipped day, and rules that follow a religious calendar.
var someZones = []string{"UTC", "Etc/UTC", "Europe/Berlin", "Europe/Dublin", "Asia/Kathmandu", "Asia/Almaty", "America/St_Johns", "America/Havana", "America/Sao_Paulo",
	"Australia/Lord_Howe", "Africa/Cairo", "Africa/Casablanca", "Pacific/Apia", "Pacific/Kwajalein", "America/Argentina/Buenos_Aires", "Africa/Monrovia"}

// TestZoneOffsets compares a zone's offsets with Go's offsets, over all storable years. It compares them at and around
// every change, and once for every day.
func TestZoneOffsets(t *testing.T) {
	t.Parallel()
	for _, name := range someZones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location, err := Location(name)
			if err != nil {
				t.Fatal(err)
			}
			z := NewZone(location, minTime, maxTime)
			if location == time.UTC {
				if len(z.spans) != 0 {
					t.Fatalf("UTC has %d spans", len(z.spans))
				}
				return
			}
			at, i := minTime, 0
			check := func(u time.Time) {
				if _, want := u.In(location).Zone(); z.spans[i].offset != time.Duration(want)*time.Second {
					t.Fatalf("%v: %v, want %d s", u, z.spans[i].offset, want)
				}
			}
			for ; at.Before(maxTime); at = at.Add(24 * time.Hour) {
				for !at.Before(z.spans[i].to) {
					check(z.spans[i].to.Add(-time.Second))
					i++
					if !z.spans[i].from.Equal(z.spans[i-1].to) || z.spans[i].offset == z.spans[i-1].offset {
						t.Fatalf("spans %d and %d do not follow each other: %v, %v", i-1, i, z.spans[i-1], z.spans[i])
					}
					check(z.spans[i].from)
				}
				check(at)
			}
		})
	}
}

func TestLocationNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "localtime", "posixrules", "right/UTC", "posix/Europe/Berlin", "../etc/passwd", "/etc/localtime",
		"Europe/../UTC", "Europe/Berlin'", "Europe/Berlin\x00", "Mars/Olympus", "Europe", `Europe\Berlin`, "+01:00"} {
		if l, err := Location(name); err == nil {
			t.Errorf("%q is %v", name, l)
		}
	}
	for _, name := range append(someZones, "GMT", "EST5EDT", "Etc/GMT+12", "America/North_Dakota/New_Salem") {
		if _, err := Location(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestZoneOfAnEmptyRange: a range outside of the storable years is empty, even if the zone's offset changes in this
// range.
func TestZoneOfAnEmptyRange(t *testing.T) {
	t.Parallel()
	berlin, err := Location("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{minTime, maxTime, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)} {
		z := NewZone(berlin, at, at)
		for _, interval := range intervals {
			_ = bucket(Arguments{Interval: interval}, Env{Zone: z})
			if list, ok := z.Buckets(interval, at, at, 1); len(list) != 0 || !ok {
				t.Errorf("%v by %s: %v", at, interval.Word, list)
			}
		}
	}
}
