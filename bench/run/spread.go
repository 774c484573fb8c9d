package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// spread summarises the values of several rounds.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// compared has the measurements of two sides that took turns.
type compared struct{ ours, ceiling, ratio spread }

// interleave measures `ours` and `ceiling` alternately, so that other load on the machine affects both. A ratio is the
// quotient of the two values of a round.
func interleave(rounds int, ours, ceiling func() (float64, error)) (compared, error) {
	var a, b []float64
	for range rounds {
		x, err := ours()
		if err != nil {
			return compared{}, err
		}
		y, err := ceiling()
		if err != nil {
			return compared{}, fmt.Errorf("the ceiling: %w", err)
		}
		a, b = append(a, x), append(b, y)
	}
	return paired(a, b), nil
}

// paired summarises the values of the two sides, and the ratios of the rounds.
func paired(ours, ceiling []float64) compared {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / ceiling[i]
	}
	return compared{spreadOf(ours), spreadOf(ceiling), spreadOf(ratios)}
}

// millis returns a duration in milliseconds.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// number formats a value with three significant digits, with k for thousands
// and M for millions.
func number(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 999_500:
		return fmt.Sprintf("%.3g M", v/1e6)
	case abs >= 9_995:
		return fmt.Sprintf("%.0f k", v/1e3)
	case abs >= 995:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

func (s spread) text() string {
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Min), number(s.Max))
}

// quantile returns a quantile of the values.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
