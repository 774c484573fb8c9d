package docs

import (
	_ "embed"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// example is a request of an operation that a test sent, and its answer. TestExamples compares the examples in
// examples.json with the answers of a live server.
type example struct {
	Query string         `json:"query"`
	Body  jsontext.Value `json:"body"`
	// Form is a body that browsers post.
	Form string `json:"form"`
	// Media is the media type of the answer.
	Media  string         `json:"media"`
	Answer jsontext.Value `json:"answer"`
	// Left is the number of omitted entries of a list.
	Left int `json:"left"`
}

//go:embed examples.json
var examplesFile []byte

// readExamples returns the examples by operation.
func readExamples() (map[string]example, error) {
	var all map[string]example
	if err := json.Unmarshal(examplesFile, &all); err != nil {
		return nil, fmt.Errorf("cannot read examples.json: %w", err)
	}
	return all, nil
}

// pretty returns JSON as text. It indents JSON that is too long for a short line.
func pretty(value jsontext.Value) string {
	const short = 72
	if len(value) <= short {
		return string(value)
	}
	indented := value.Clone()
	if err := indented.Indent(jsontext.WithIndent("  ")); err != nil {
		return string(value)
	}
	return string(indented)
}
