package markdown

import (
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Blocks of integrations have no form in GitBook's Markdown. They are written as a code block with a special language.
// The text of the code block is the data of the node.

// integrationSyntax is the language of that code.
const integrationSyntax = "octavo-integration"

func (w writer) integration(n *schema.Node) string {
	data := schema.Data{}
	for name, value := range n.Data {
		data[name] = value
	}
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil { // The data came from JSON, and is shown at least by name.
		return escaped(content.Label(n))
	}
	return fenced(integrationSyntax, string(text))
}

// integrationNode reads what integration writes.
func integrationNode(text string) (schema.Node, bool) {
	data := schema.Data{}
	if json.Unmarshal([]byte(text), &data) != nil || !schema.ValidData("integration", data) {
		return schema.Node{}, false
	}
	return schema.Node{Type: "integration", Data: data}, true
}
