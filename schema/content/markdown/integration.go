package markdown

import (
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// GitBook's Markdown has no form for blocks of integrations. Such a block is written as a code block with a special
// language. The code is the block's data as JSON.

// integrationSyntax is the language of the code block of an integration.
const integrationSyntax = "octavo-integration"

func (w writer) integration(n *schema.Node) string {
	data := schema.Data{}
	for name, value := range n.Data {
		data[name] = value
	}
	text, err := json.Marshal(data, json.Deterministic(true))
	// Marshal cannot fail, because the data came from JSON. If Marshal failed, the block would be written as its name.
	if err != nil {
		return escaped(content.Label(n))
	}
	return fenced(integrationSyntax, string(text))
}

// integrationNode makes a block of an integration from the text of a code block. The method integration writes such
// code blocks.
func integrationNode(text string) (schema.Node, bool) {
	data := schema.Data{}
	if json.Unmarshal([]byte(text), &data) != nil || !schema.ValidData("integration", data) {
		return schema.Node{}, false
	}
	return schema.Node{Type: "integration", Data: data}, true
}
