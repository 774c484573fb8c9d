package intake

import (
	"bytes"

	"github.com/octavo-docs/octavo/schema/insights"
)

// RefuseUnread counts a request for a site's events that was refused before it reached the intake.
func (in *Intake) RefuseUnread(site string, reason *insights.Reason) {
	in.metrics.refused[reason].requests.Inc()
	in.cfg.Balances.Account(site).RefuseUnread(reason)
}

// refusedEvents counts the events in a body that was refused with err. It continues at the event where the decoder
// stopped, so only this event is read twice.
func (d *decoder) refusedEvents(err *insights.Refusal) int {
	switch {
	case d.current == outside:
		return d.index
	case err.Reason == insights.NotJSON:
		return d.index + 1 // the unreadable event counts as an event
	}
	return d.index + countElements(d.data[d.current:])
}

// countElements counts an array's elements from the start of `data` to the array's end. It looks only for quotes,
// brackets and commas, and does not check the syntax.
func countElements(data []byte) int {
	count, depth := 1, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = endOfString(data, i); i < 0 {
				return count
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return count
			}
			depth--
		case ',':
			if depth == 0 {
				count++
			}
		}
	}
	return count
}

// endOfString returns the index of the closing quote of the string that begins at `start`. It returns -1 if there is no
// closing quote.
func endOfString(data []byte, start int) int {
	for i := start + 1; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		before := i
		for data[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 {
			return i
		}
	}
}
