package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/store"
)

// hints has advice for the reader of an error. hintOf uses the first row whose cause the error wraps.
var hints = []struct {
	cause error
	hint  string
}{
	{embedded.ErrNoData, "octavo serve creates the data; OCTAVO_DATA_DIR names the directory of a node, and " +
		"OCTAVO_POSTGRES_URL, OCTAVO_KAFKA_BROKERS and OCTAVO_CLICKHOUSE_URL name engines that run elsewhere."},
	{store.ErrNotMigrated, "octavo migrate and octavo serve bring the database to this version."},
	{syscall.ECONNREFUSED, "No server listens at this address: start it, or set the address (OCTAVO_URL, " +
		"OCTAVO_POSTGRES_URL, OCTAVO_KAFKA_BROKERS, OCTAVO_CLICKHOUSE_URL)."},
	{tracker.ErrUnknownForm, "--for takes " + strings.Join(tracker.Names(), ", ") + "; html fits every page."},
	{errNotInstalled, "The sentence above says what to do; api/tracker/TRACKER.md explains the verdicts."},
	{errNoPublishableKey, "An administrator makes a key: POST /v1/orgs/{org}/sites/{site}/insights/keys with its " +
		"name and hosts (ingest/intake/SENDING.md, From browsers)."},
	{errDamaged, "The column HINT of the table says what to do for each kind of data."},
	{os.ErrPermission, "Run the command as the user of the node."},
}

// hintOf returns the hint for an error. If hints has no row for the error, the hint refers to the help of the command.
func hintOf(err error, command string) string {
	for _, row := range hints {
		if errors.Is(err, row.cause) {
			return row.hint
		}
	}
	return command + " --help shows arguments and flags."
}

// printFailure prints an error as a sentence and a hint. With asJSON it prints a JSON object with the error and the
// hint.
func printFailure(w io.Writer, err error, command string, asJSON bool) {
	message, hint := err.Error(), hintOf(err, command)
	if asJSON {
		_ = printJSON(w, struct {
			Error string `json:"error"`
			Hint  string `json:"hint"`
		}{message, hint})
		return
	}
	_, _ = fmt.Fprintf(w, "octavo: error: %s\nhint: %s\n", message, hint)
}

// run parses the arguments and runs their command. It returns the exit status.
func run(arguments []string, stderr io.Writer) int {
	if len(arguments) == 0 {
		arguments = []string{"--help"}
	}
	var cli commands
	parser, err := kong.New(&cli, options(os.Stdin)...)
	command := "octavo"
	if err == nil {
		var parsed *kong.Context
		if parsed, err = parser.Parse(arguments); err == nil {
			command = commandOf(parsed)
			err = parsed.Run()
		} else if failure, ok := errors.AsType[*kong.ParseError](err); ok {
			command = commandOf(failure.Context)
		}
	}
	if err == nil {
		return 0
	}
	printFailure(stderr, err, command, slices.Contains(arguments, "--json"))
	if coded := kong.ExitCoder(nil); errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}

// commandOf returns the parsed command, such as "octavo jobs list".
func commandOf(parsed *kong.Context) string {
	words := []string{"octavo"}
	for _, step := range parsed.Path {
		if step.Command != nil {
			words = append(words, step.Command.Name)
		}
	}
	return strings.Join(words, " ")
}
