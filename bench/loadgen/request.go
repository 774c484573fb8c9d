package loadgen

import "fmt"

// Request makes a complete HTTP/1.1 request with a JSON body. With an empty
// token it has no Authorization header. Headers are "name: value".
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
