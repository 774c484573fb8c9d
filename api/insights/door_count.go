package insights

import "bytes"

// maxDoorEvents is the largest number of events in a browser's batch.
const maxDoorEvents = 50

// countEvents counts the events of an accepted batch, which is valid JSON. countEvents does not find the events if the
// name "events" is written with escapes. It then returns maxDoorEvents.
func countEvents(body []byte) int {
	count, depth := 0, 0
	var name []byte // name is the name of the last member in the outermost object.
	inEvents, found := false, false
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			end := endOfString(body, i)
			if depth == 1 {
				name = body[i+1 : end]
			}
			i = end
		case '{', '[':
			depth++
			if depth == 2 && body[i] == '[' && string(name) == "events" {
				inEvents, found = true, true
				if rest := bytes.TrimLeft(body[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] != ']' {
					count++
				}
			}
		case '}', ']':
			depth--
			inEvents = inEvents && depth >= 2
		case ',':
			if inEvents && depth == 2 {
				count++
			}
		}
	}
	if !found {
		return maxDoorEvents
	}
	return count
}

// endOfString returns the index of the quote that ends the string that begins at `start`. If there is no such quote, it
// returns the last index of `body`.
func endOfString(body []byte, start int) int {
	for i := start + 1; i < len(body); i++ {
		switch body[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(body) - 1
}
