package main

import (
	"fmt"
	"io"
	"os"

	"github.com/octavo-docs/octavo/api/tracker"
)

// SnippetCmd is `octavo site snippet`. It needs no engine.
type SnippetCmd struct {
	Site   string `arg:"" help:"The site's id."`
	For    string `name:"for" default:"html" placeholder:"NAME" help:"What the site is made with: ${snippets}."`
	Key    string `name:"key" required:"" help:"Text of one of the site's publishable keys."`
	URL    string `name:"url" env:"OCTAVO_PUBLIC_URL,OCTAVO_URL" required:"" help:"Address of Octavo as browsers see it."`
	Newest bool   `help:"Load the script of the running version, whatever it is. Browsers cannot check its hash then."`
}

// Run prints the snippet.
func (c *SnippetCmd) Run() error { return c.print(os.Stdout, os.Stderr) }

func (c *SnippetCmd) print(out, say io.Writer) error {
	text, err := tracker.Snippet(c.For, tracker.Site{Base: c.URL, Key: c.Key, Newest: c.Newest})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	const hosts = "The key must list the hosts of the site %s. Events of other hosts are refused.\n"
	_, err = fmt.Fprintf(say, hosts, c.Site)
	return err
}
