package ingest

// countEvents is how many events a refused body has, as far as it can be read:
// none if it is not JSON at all. It runs for refusals only, and reads the body
// once more.
func countEvents(body []byte) (count int) {
	s := scanner{data: body}
	if s.peek() != '{' {
		return 0
	}
	s.pos++
	for first := true; ; first = false {
		more, ok := s.more(first, '}')
		if !ok || !more {
			return count
		}
		name, ok := s.key()
		switch {
		case !ok:
			return count
		case name != "events" || s.peek() != '[':
			if !s.skip(1) {
				return count
			}
			continue
		}
		s.pos++
		for n := 0; ; n++ {
			more, ok := s.more(n == 0, ']')
			if !ok {
				return n
			}
			if !more {
				count = n
				break
			}
			if !s.skip(2) {
				return n + 1 // the one that cannot be read is one
			}
		}
	}
}
