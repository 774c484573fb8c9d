package loadgen

import (
	"bytes"
	"fmt"
	"strconv"
)

// Request returns a complete HTTP/1.1 request with a JSON body. If `token` is "", the request has no Authorization
// header. Each of the headers has the form "name: value".
func Request(method, address, path, token string, body []byte, headers ...string) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", method, path, address, len(body))
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	for _, header := range headers {
		head += header + "\r\n"
	}
	return append([]byte(head+"\r\n"), body...)
}

// places returns the position of the number in each request. It returns nil if requests have no numbers.
func (l *Load) places() ([]int, error) {
	if l.Numbered == "" {
		return nil, nil
	}
	at := make([]int, len(l.Requests))
	for i, request := range l.Requests {
		if at[i] = bytes.Index(request, []byte(l.Numbered)); at[i] < 0 || bytes.Count(request, []byte(l.Numbered)) > 1 {
			return nil, fmt.Errorf("cannot number a request that does not have %q once", l.Numbered)
		}
	}
	return at, nil
}

// number replaces `digits` with the number n, with leading zeros. If n has more digits, `number` leaves out the first
// digits of n.
func number(digits []byte, n uint64) {
	var room [20]byte
	text := strconv.AppendUint(room[:0], n, 10)
	for i := range digits {
		digits[i] = '0'
		if from := len(text) - len(digits) + i; from >= 0 {
			digits[i] = text[from]
		}
	}
}
