// Command program has octavo's engine commands and nothing else: tests of any package run their engines by it, whatever state the rest of
// the product is in.
package main

import (
	"github.com/alecthomas/kong"
	"github.com/octavo-docs/octavo/cmd/engine/embedded/command"
)

func main() {
	var cli struct {
		Engine command.Engine `cmd:"" help:"Run an embedded engine by itself."`
	}
	ctx := kong.Parse(&cli, kong.Name("octavo"), kong.UsageOnError())
	ctx.FatalIfErrorf(ctx.Run())
}
