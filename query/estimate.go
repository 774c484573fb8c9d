package query

import "github.com/octavo-docs/octavo/schema/insights"

// errorBounds are the largest errors of estimates, by counting method.
var errorBounds = map[insights.Counting]string{
	insights.CountTotals: "0.5%", insights.CountBounded: "1%", insights.CountSketched: "2%",
}

// approximates reports whether the distinct count n may be an estimate.
func approximates(counting insights.Counting, n uint64) bool {
	switch counting {
	case insights.CountBounded:
		return n > insights.UniquesBound-insights.UniquesBound/100
	case insights.CountTotals:
		return n > insights.TotalsExactly-insights.TotalsExactly/50
	case insights.CountSketched:
		return n > insights.SketchedExactly-insights.SketchedExactly/50
	case insights.CountExact:
	}
	return false
}
