package docs

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/api/frame"
)

// known is a line of client.txt: where an operation comes from, and the method of the published client that calls it.
type known struct {
	// Origin is originContract, originPublished or originOwn.
	Origin string
	// Call is the method of the published client, such as orgs.createSpace(organizationId, data); "" if the client has
	// no method for the operation.
	Call string
}

const (
	originContract  = "contract"
	originPublished = "published"
	originOwn       = "own"
)

// origins has, by origin, the text and the explanation of the badge that pages show.
var origins = map[string]struct{ Label, Doc string }{
	originContract:  {"contract", "An operation of the contract that Octavo is built to."},
	originPublished: {"published", "An operation of the published client @gitbook/api, beyond the contract."},
	originOwn:       {"Octavo's own", "An operation that Octavo adds; the published client has no method for it."},
}

//go:embed client.txt
var clientFile string

// readClient returns the operations that are not Octavo's own, by method and path. TestClient compares the file with
// the published client and with the list of the contract's operations.
func readClient() (map[string]known, error) {
	all := map[string]known{}
	for line := range strings.Lines(clientFile) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(fields) != 4 {
			return nil, fmt.Errorf("cannot read client.txt: %q has not four fields", line)
		}
		call := fields[3]
		if call == "-" {
			call = ""
		}
		all[routeKey(fields[1], fields[2])] = known{Origin: fields[0], Call: call}
	}
	return all, nil
}

// routeKey returns a key for a method and a path. It omits the names of parameters, because documents name the same
// parameter differently.
func routeKey(method, path string) string {
	return method + " " + frame.PathParam.ReplaceAllString(path, "{}")
}
