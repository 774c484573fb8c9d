package agentlist

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Published describes a set of published addresses.
type Published struct {
	Name string `json:"name"`
	// Date is the day on which the operator published the networks. It is "" if the set has no networks.
	Date     string `json:"date"`
	Networks int    `json:"networks"`
	URL      string `json:"url"` // address at which the operator publishes the set
}

// Sets describes the sets, in the order of ranges.txt.
func (r *Ranges) Sets() []Published {
	list := make([]Published, len(r.sets))
	for i, s := range r.sets {
		list[i] = Published{Name: s.name, Networks: len(s.prefixes), URL: s.url}
		if !s.date.IsZero() {
			list[i].Date = s.date.Format(time.DateOnly)
		}
	}
	return list
}

// With returns a copy of the sets. In the copy, the named set has the given networks and date.
func (r *Ranges) With(name string, prefixes []netip.Prefix, day time.Time) (*Ranges, error) {
	set, ok := setOf(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no set %q of published addresses", name)
	case len(prefixes) == 0:
		return nil, errors.New("the list has no networks")
	}
	changed := &Ranges{sets: slices.Clone(r.sets)}
	s := &changed.sets[set-1]
	s.prefixes, s.spans = prefixes, spansOf(prefixes)
	s.date = day.UTC().Truncate(24 * time.Hour)
	return changed, nil
}

// String returns the sets as text that ParseRanges reads.
func (r *Ranges) String() string {
	var b strings.Builder
	b.WriteString("# Addresses that operators of agents publish. `octavo agents update` writes this file.\n")
	for i, s := range r.Sets() {
		date := s.Date
		if date == "" {
			date = "-"
		}
		fmt.Fprintf(&b, "set\t%s\t%s\t%s\n", s.Name, date, s.URL)
		for _, p := range r.sets[i].prefixes {
			b.WriteString(p.String() + "\n")
		}
	}
	return b.String()
}

// ReadPublished reads an operator's list: an object with the array `prefixes`. The array's objects have `ipv4Prefix` or
// `ipv6Prefix`. OpenAI, Google, Microsoft, Anthropic and Perplexity publish lists in this format.
func ReadPublished(body []byte) ([]netip.Prefix, error) {
	var list struct {
		Prefixes []struct {
			V4 string `json:"ipv4Prefix"`
			V6 string `json:"ipv6Prefix"`
		} `json:"prefixes"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("the list is not JSON of the usual form: %w", err)
	}
	if len(list.Prefixes) > maxPrefixes {
		return nil, fmt.Errorf("the list has more than %d networks", maxPrefixes)
	}
	var prefixes []netip.Prefix
	for _, p := range list.Prefixes {
		for _, text := range []string{p.V4, p.V6} {
			if text == "" {
				continue
			}
			prefix, err := parsePrefix(text)
			if err != nil {
				return nil, fmt.Errorf("the list %w", err)
			}
			prefixes = append(prefixes, prefix)
		}
	}
	if len(prefixes) == 0 {
		return nil, errors.New("the list has no networks")
	}
	return prefixes, nil
}
