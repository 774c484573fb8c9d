// Command program has only octavo's engine commands. Tests of all packages use it for their engines, even if the rest
// of the product does not compile.
package main

import (
	"github.com/alecthomas/kong"
	"github.com/octavo-docs/octavo/cmd/engine/embedded/command"
)

func main() {
	var cli struct {
		Engine command.Engine `cmd:"" help:"Run an embedded engine by itself."`
	}
	ctx := kong.Parse(&cli, kong.Name("octavo"), kong.UsageOnError(), kong.Vars{"baseline": "0"})
	ctx.FatalIfErrorf(ctx.Run())
}
