package agentlist

import (
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed ranges.txt
var rangesText string

// Set identifies a set of published addresses by its place among the embedded sets, counted from 1.
type Set uint8

// Ranges has the addresses that operators publish. It never changes.
type Ranges struct{ sets []rangeSet }

type rangeSet struct {
	name, url string
	date      time.Time // date is zero if the set has no addresses
	prefixes  []netip.Prefix
	spans     []span // the prefixes as ascending, disjoint spans
}

type span struct{ first, last netip.Addr }

// MaxAge is the time before and after a set's date within which the set counts as complete. Within this time, an event
// whose address is not in the set comes from an impostor. Outside this time, no event counts as an impostor's, because
// operators change their addresses without notice.
const MaxAge = 60 * 24 * time.Hour

const maxPrefixes = 100_000

// EmbeddedRanges returns the addresses that are compiled into the program.
var EmbeddedRanges = sync.OnceValue(func() *Ranges {
	r, err := parseRanges(rangesText)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return r
})

func setOf(name string) (Set, bool) {
	at := slices.IndexFunc(EmbeddedRanges().sets, func(s rangeSet) bool { return s.name == name })
	return Set(at + 1), at >= 0
}

// ParseRanges reads sets in the format of ranges.txt, in any order. A set that the text does not have is taken from the
// embedded sets. The error names the faulty line.
func ParseRanges(text string) (*Ranges, error) {
	read, err := parseRanges(text)
	if err != nil {
		return nil, err
	}
	r := &Ranges{sets: slices.Clone(EmbeddedRanges().sets)}
	for _, s := range read.sets {
		set, ok := setOf(s.name)
		if !ok {
			return nil, fmt.Errorf("the addresses of agents have the unknown set %q", s.name)
		}
		r.sets[set-1] = s
	}
	return r, nil
}

func parseRanges(text string) (*Ranges, error) {
	r := &Ranges{}
	number, prefixes := 0, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if prefixes++; prefixes > maxPrefixes {
			return nil, fmt.Errorf("the addresses of agents have more than %d lines", maxPrefixes)
		}
		if err := r.add(line); err != nil {
			return nil, fmt.Errorf("line %d of the addresses of agents: %w", number, err)
		}
	}
	for i := range r.sets {
		s := &r.sets[i]
		if s.date.IsZero() != (len(s.prefixes) == 0) {
			return nil, fmt.Errorf("the set %s must have addresses exactly if it has a date", s.name)
		}
		s.spans = spansOf(s.prefixes)
	}
	return r, nil
}

func (r *Ranges) add(line string) error {
	if head, ok := strings.CutPrefix(line, "set\t"); ok {
		fields := strings.Split(head, "\t")
		if len(fields) != 3 {
			return errors.New("must have the set's name, date and URL")
		}
		s := rangeSet{name: fields[0], url: fields[2]}
		if fields[1] != "-" {
			date, err := time.Parse(time.DateOnly, fields[1])
			if err != nil {
				return fmt.Errorf("has a date that is not a day: %w", err)
			}
			s.date = date
		}
		if slices.ContainsFunc(r.sets, func(other rangeSet) bool { return other.name == s.name }) {
			return fmt.Errorf("has the set %s again", s.name)
		}
		r.sets = append(r.sets, s)
		return nil
	}
	if len(r.sets) == 0 {
		return errors.New("has an address before the first set")
	}
	prefix, err := parsePrefix(line)
	if err != nil {
		return err
	}
	s := &r.sets[len(r.sets)-1]
	s.prefixes = append(s.prefixes, prefix)
	return nil
}

// parsePrefix reads a network of the public internet. It refuses a network that is larger than the networks that
// operators have. Such a large network is a mistake, or an attempt to make every address count as verified.
func parsePrefix(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("has no network: %w", err)
	}
	addr := prefix.Addr()
	least := 8
	if addr.Is6() {
		least = 20
	}
	switch {
	case addr.Is4In6() || prefix != prefix.Masked():
		return prefix, fmt.Errorf("has %s, which is not the start of a network", text)
	case prefix.Bits() < least:
		return prefix, fmt.Errorf("has %s, which is larger than any operator's network", text)
	case addr.IsPrivate() || !addr.IsGlobalUnicast():
		return prefix, fmt.Errorf("has %s, which is not of the public internet", text)
	}
	return prefix, nil
}

// spansOf returns the networks as spans. It joins networks that overlap.
func spansOf(prefixes []netip.Prefix) (spans []span) {
	sorted := slices.SortedFunc(slices.Values(prefixes), func(a, b netip.Prefix) int {
		return a.Addr().Compare(b.Addr())
	})
	for _, p := range sorted {
		s := span{p.Addr(), lastOf(p)}
		if n := len(spans); n > 0 && s.first.Compare(spans[n-1].last) <= 0 {
			if spans[n-1].last.Less(s.last) {
				spans[n-1].last = s.last
			}
			continue
		}
		spans = append(spans, s)
	}
	return spans
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b) // b has the length of an address
	return last
}

// Has reports whether an address is in a set. It allocates nothing.
func (r *Ranges) Has(set Set, ip netip.Addr) bool {
	if set == 0 || !ip.IsValid() {
		return false
	}
	ip = ip.Unmap()
	spans := r.sets[set-1].spans
	at, exact := slices.BinarySearchFunc(spans, ip, func(s span, ip netip.Addr) int { return s.first.Compare(ip) })
	if exact {
		return true
	}
	return at > 0 && ip.Compare(spans[at-1].last) <= 0
}

// Holds reports whether a set is complete at a time, so that an address outside the set does not belong to the
// operator. This requires that the set has addresses, and that its date is less than MaxAge before or after this time.
func (r *Ranges) Holds(set Set, at time.Time) bool {
	if set == 0 || r.sets[set-1].date.IsZero() {
		return false
	}
	return at.Sub(r.sets[set-1].date).Abs() < MaxAge
}
