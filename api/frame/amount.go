package frame

import (
	"fmt"

	"github.com/octavo-docs/octavo/schema"
)

// These constants limit the values in a large JSON body. In memory, a decoded value may take a hundred times as many
// bytes as in the body. The largest document of a page has half as many values as these limits allow.
const (
	uncountedBody = 1 << 20
	maxContainers = 5 * schema.MaxDocumentNodes // Containers are objects and arrays.
	maxMembers    = 40 * schema.MaxDocumentNodes
)

// checkAmount returns an error if a large body has more values than any resource can have. It runs before the body is
// decoded.
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

// amount counts the objects and arrays of a JSON text. `members` is the number of commas. Each object or array with n
// members or elements has n-1 commas.
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
