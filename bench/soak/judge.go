package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// result has the figures of all minutes, and the reason why the run failed.
type result struct {
	minutes []minute
	failed  error
}

// fifth returns the values of a column in one of the five equal parts of the minutes. n is 0 for the first part.
func (r result) fifth(column, n int) []float64 {
	size := len(r.minutes) / 5
	first := n * size
	if n == 4 {
		first = len(r.minutes) - size
	}
	var list []float64
	for _, m := range r.minutes[first : first+size] {
		list = append(list, m[column])
	}
	slices.Sort(list)
	return list
}

// grown returns two values of a column. `last` is the median of the last fifth of the minutes. `limit` is the largest
// value that `last` may have: 1.1 times the greatest value of the second fifth, plus the column's noise. The first
// fifth is not used, because caches still fill in these minutes.
func (r result) grown(column int) (last, limit float64) {
	second, end := r.fifth(column, 1), r.fifth(column, 4)
	return end[len(end)/2], second[len(second)-1]*1.1 + columns[column].noise
}

// judge returns an error that names each column whose growth exceeds its limit.
func (r result) judge() error {
	if len(r.minutes) < 5 {
		return fmt.Errorf("%d minutes are too few to compare fifths of them", len(r.minutes))
	}
	var errs []error
	for i, c := range columns {
		if c.noise == 0 {
			continue
		}
		if last, limit := r.grown(i); last > limit {
			errs = append(errs, fmt.Errorf("%s grew to %s in the last fifth; the limit is %s",
				c.name, figure(last), figure(limit)))
		}
	}
	return errors.Join(errs...)
}

// figure formats a value with three significant digits.
func figure(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// header returns the first two lines of the table.
func header() string {
	names := []string{"minute"}
	for _, c := range columns {
		names = append(names, c.name)
	}
	return "| " + strings.Join(names, " | ") + " |\n|" + strings.Repeat("---|", len(names))
}

// row returns a line of the table.
func (m minute) row(n int) string {
	list := []string{fmt.Sprint(n)}
	for _, v := range m {
		list = append(list, figure(v))
	}
	return "| " + strings.Join(list, " | ") + " |"
}

func (r result) markdown() string {
	lines := []string{header()}
	for i, m := range r.minutes {
		lines = append(lines, m.row(i+1))
	}
	lines = append(lines, "")
	if len(r.minutes) >= 5 {
		lines = append(lines,
			"| figure | second fifth, median and greatest | last fifth, median | limit |", "|---|---|---|---|")
		for i, c := range columns {
			if c.noise == 0 {
				continue
			}
			second := r.fifth(i, 1)
			last, limit := r.grown(i)
			lines = append(lines, fmt.Sprintf("| %s | %s, %s | %s | %s |", c.name, figure(second[len(second)/2]),
				figure(second[len(second)-1]), figure(last), figure(limit)))
		}
		lines = append(lines, "")
	}
	outcome := "Nothing grew, no request was refused, and each acknowledged event is stored once."
	if r.failed != nil {
		outcome = "**Failed**: " + r.failed.Error()
	}
	return strings.Join(append(lines, outcome), "\n") + "\n"
}
