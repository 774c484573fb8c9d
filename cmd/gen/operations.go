package main

import (
	"bytes"
	"fmt"

	"github.com/octavo-docs/octavo/api"
)

// openAPI writes the OpenAPI document without a server URL.
func openAPI(b *bytes.Buffer) error {
	document, err := api.OpenAPI("")
	if err != nil {
		return err
	}
	b.Write(document)
	b.WriteByte('\n')
	return nil
}

// operations writes the operation table.
func operations(b *bytes.Buffer) error {
	b.WriteString("# Operations\n\n" + notice + "Paths are below `/v1`. Every operation needs `Authorization: Bearer <token>`.\n\n")
	b.WriteString("| operation | method and path | success | who may | what it does |\n|---|---|---|---|---|\n")
	for _, op := range api.Table().Operations {
		route := fmt.Sprintf("`%s %s`", op.Method, op.Path)
		if op.Root {
			route += " at the root"
		}
		fmt.Fprintf(b, "| `%s` | %s | %d | %s | %s |\n", op.ID, route, op.Status, op.Scope, cellText(op.Doc))
	}
	return nil
}
