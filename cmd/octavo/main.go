// Command octavo is the product: a documentation-site API with insights, in one binary with its embedded engines. This
// package reads settings, wires the parts together and runs them. The parts are in api, ingest, query, store and
// cmd/engine. They do not import this package.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/schema"
)

type commands struct {
	Config kong.ConfigFlag `env:"OCTAVO_CONFIG" help:"JSON file with settings."`

	Serve      ServeCmd      `cmd:"" help:"Run the server."`
	Seed       SeedCmd       `cmd:"" help:"Write a believable example site's events through the public API."`
	Token      TokenCmd      `cmd:"" help:"Create, list and revoke tokens."`
	Org        OrgCmd        `cmd:"" help:"Manage organizations as the operator."`
	Site       SiteCmd       `cmd:"" help:"Connect a site to Octavo, and the operator's part in its hostnames."`
	Content    ContentCmd    `cmd:"" help:"Maintain content as the operator."`
	Jobs       JobsCmd       `cmd:"" help:"List background jobs and retry failed ones."`
	Agents     AgentsCmd     `cmd:"" help:"List and renew the addresses by which agents, such as crawlers, are verified."`
	Audit      AuditCmd      `cmd:"" help:"List what changed in the installation."`
	Clock      ClockCmd      `cmd:"" help:"Show what is known of the time, and confirm that the clock is right."`
	Migrate    MigrateCmd    `cmd:"" help:"Migrate the databases to this version's schema."`
	DeadLetter DeadLetterCmd `cmd:"" name:"deadletter" help:"Inspect and replay events that could not be stored."`
	Reconcile  ReconcileCmd  `cmd:"" help:"Compare the event log with the events table, offset range by offset range, and report every difference."`
	Repair     RepairCmd     `cmd:"" help:"Set damaged parts of the events table aside, restore missing events from the log, or accept a loss."`
	Verify     VerifyCmd     `cmd:"" help:"Read everything that is stored, and say what is damaged."`
	Explain    ExplainCmd    `cmd:"" help:"Answer an aggregate request and say how: plan, source, statements, rows read, time."`
	Settings   SettingsCmd   `cmd:"" help:"List the settings: name, default, unit, meaning."`
	Version    VersionCmd    `cmd:"" help:"Print the version of this build."`
	Engine     EngineCmd     `cmd:"" help:"Run an embedded engine by itself. octavo starts these; you rarely need to."`
}

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func options(stdin io.Reader) []kong.Option {
	secrets := newSecretFiles(stdin)
	return []kong.Option{
		kong.Name("octavo"), kong.Description("Documentation-site API with insights."), kong.Configuration(kong.JSON),
		kong.Vars{"baseline": strconv.Itoa(schema.Baseline), "snippets": strings.Join(tracker.Names(), ", ")},
		kong.PostBuild(secrets.addFlags), kong.PostBuild(settingsLast), kong.Resolvers(secrets),
		reportWords(), durations(),
	}
}

// untilSignalled returns a context that ends on SIGTERM or SIGINT.
func untilSignalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
}
