package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// curve is a line of a chart; y has a value for each x.
type curve struct {
	name, colour string
	dashed       bool
	y            []float64
}

type chart struct {
	title  string
	x      []float64
	curves []curve
	goal   float64
}

// growthPlot draws how answers take longer with the table.
func growthPlot(sizes []sizeFigures) string {
	of := func(title string, goal budget, which func(panel) bool) chart {
		c := chart{title: title, goal: goal.AtMost, curves: []curve{
			{name: "raw SQL p95", colour: "#b45309"}, {name: "raw SQL p50", colour: "#b45309", dashed: true},
			{name: "Octavo p95", colour: "#1d4ed8"}, {name: "Octavo p50", colour: "#1d4ed8", dashed: true},
		}}
		for _, s := range sizes {
			c.x = append(c.x, s.events)
			for i, y := range []float64{figure(s.raw, 0.95, which), figure(s.raw, 0.5, which), figure(s.ours, 0.95, which), figure(s.ours, 0.5, which)} {
				c.curves[i].y = append(c.curves[i].y, y)
			}
		}
		return c
	}
	return svg([]chart{of("All questions, sites and ranges", goalAll, inGoals), of("12 months of the largest site", goalLong, longOfLargest)})
}

// The size of a chart, and of the room around what it draws, in pixels.
const (
	chartWide, chartHigh = 540.0, 380.0
	roomLeft, roomRight  = 64.0, 150.0
	roomTop, roomBottom  = 44.0, 52.0
	labelGap             = 13.0
)

// svg draws charts side by side, with logarithmic axes of the same scale.
func svg(charts []chart) string {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range charts {
		lowY, highY = min(lowY, c.goal), max(highY, c.goal)
		for _, x := range c.x {
			lowX, highX = min(lowX, x), max(highX, x)
		}
		for _, k := range c.curves {
			for _, y := range k.y {
				lowY, highY = min(lowY, y), max(highY, y)
			}
		}
	}
	lowY, highY = math.Pow(10, math.Floor(math.Log10(lowY))), math.Pow(10, math.Ceil(math.Log10(highY)))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n",
		chartWide*float64(len(charts)), chartHigh, chartWide*float64(len(charts)), chartHigh)
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i, c := range charts {
		left, right := chartWide*float64(i)+roomLeft, chartWide*float64(i+1)-roomRight
		top, bottom := roomTop, chartHigh-roomBottom
		at := func(x, y float64) (float64, float64) {
			return left + (right-left)*math.Log(x/lowX)/math.Log(highX/lowX), bottom - (bottom-top)*math.Log(y/lowY)/math.Log(highY/lowY)
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="22" font-size="14" font-weight="bold">%s</text>`+"\n", left, c.title)
		for y := lowY; y <= highY*1.01; y *= 10 {
			_, v := at(lowX, y)
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e5e7eb"/><text x="%.1f" y="%.1f" text-anchor="end" fill="#374151">%s</text>`+"\n",
				left, v, right, v, left-6, v+4, time.Duration(y*float64(time.Millisecond)))
		}
		for _, x := range c.x {
			h, _ := at(x, lowY)
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e5e7eb"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#374151">%s</text>`+"\n",
				h, top, h, bottom, h, bottom+18, number(x))
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#374151">events in the table</text>`+"\n", (left+right)/2, bottom+38)
		_, v := at(lowX, c.goal)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#6b7280" stroke-dasharray="1 3"/><text x="%.1f" y="%.1f" font-size="11" fill="#6b7280">goal of p95: %s ms</text>`+"\n",
			left, v, right, v, left+6, v-5, number(c.goal))
		b.WriteString(c.lines(at, top))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// lines draws the curves, each with its name at its end, one below another.
func (c chart) lines(at func(x, y float64) (float64, float64), top float64) string {
	var b strings.Builder
	last := len(c.x) - 1
	above := top - labelGap
	for _, k := range byEnd(c.curves) {
		dash, points := "", make([]string, len(c.x))
		if k.dashed {
			dash = ` stroke-dasharray="5 4"`
		}
		for i, x := range c.x {
			h, v := at(x, k.y[i])
			points[i] = fmt.Sprintf("%.1f,%.1f", h, v)
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", h, v, k.colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), k.colour, dash)
		h, v := at(c.x[last], k.y[last])
		above = max(v, above+labelGap)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="11" fill="%s">%s: %s ms</text>`+"\n", h+8, above+4, k.colour, k.name, number(k.y[last]))
	}
	return b.String()
}

// byEnd are the curves by their last values, the highest first.
func byEnd(curves []curve) []curve {
	return slices.SortedFunc(slices.Values(curves), func(a, b curve) int { return cmp.Compare(b.y[len(b.y)-1], a.y[len(a.y)-1]) })
}
