// Command octavo is the whole product: a documentation-site API with insights,
// and the engines under it.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Config kong.ConfigFlag `env:"OCTAVO_CONFIG" help:"JSON file with settings."`

	Serve      ServeCmd      `cmd:"" help:"Run the server."`
	Seed       SeedCmd       `cmd:"" help:"Write a believable example site's events through the public API."`
	Token      TokenCmd      `cmd:"" help:"Make, list and end tokens."`
	Org        OrgCmd        `cmd:"" help:"Vouch for organizations, as the operator."`
	Migrate    MigrateCmd    `cmd:"" help:"Bring the databases to this version's schema."`
	DeadLetter DeadLetterCmd `cmd:"" name:"deadletter" help:"Look at events that could not be stored, and replay them."`
	Reconcile  ReconcileCmd  `cmd:"" help:"Compare the event log with the events table by ranges of offsets, and report every difference."`
	Version    VersionCmd    `cmd:"" help:"Say which build this is."`
	Engine     EngineCmd     `cmd:"" help:"Run an embedded engine by itself. octavo starts these; you rarely need to."`
}

func main() {
	var cli commands
	ctx := kong.Parse(&cli, append(options(os.Stdin), kong.UsageOnError())...)
	ctx.FatalIfErrorf(ctx.Run())
}

// options are how the command line is read.
func options(stdin io.Reader) []kong.Option {
	secrets := newSecretFiles(stdin)
	return []kong.Option{
		kong.Name("octavo"), kong.Description("Documentation-site API with insights."), kong.Configuration(kong.JSON),
		kong.PostBuild(secrets.addFlags), kong.Resolvers(secrets),
	}
}

// untilSignalled is done when the process is told to stop.
func untilSignalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
}
