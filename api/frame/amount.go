package frame

import (
	"fmt"

	"github.com/octavo-docs/octavo/schema"
)

// These constants limit the values in a large JSON body. A decoded value may take a hundred times its bytes in the
// body. The largest document of a page has half of the allowed values.
const (
	uncountedBody = 1 << 20
	maxContainers = 5 * schema.MaxDocumentNodes // Containers are objects and arrays.
	maxMembers    = 40 * schema.MaxDocumentNodes
)

// checkAmount refuses a large body with more values than any resource has, before it is decoded.
func checkAmount(body []byte) error {
	if len(body) <= uncountedBody {
		return nil
	}
	containers, members := amount(body)
	switch {
	case containers > maxContainers:
		return schema.TooLarge(fmt.Sprintf("the body has more than %d objects and arrays", maxContainers))
	case members > maxMembers:
		return schema.TooLarge(fmt.Sprintf("the body has more than %d members and elements", maxMembers))
	}
	return nil
}

// amount counts the objects and arrays of a JSON text. members is the number of commas: the members and elements except
// the first of each container.
func amount(text []byte) (containers, members int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			containers++
		case ',':
			members++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return containers, members
}
