package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// SnippetCmd is `octavo site snippet`. With --key it needs no engine.
type SnippetCmd struct {
	Settings `embed:""`
	Site     string `arg:"" env:"OCTAVO_SITE" help:"The site's id. Default: OCTAVO_SITE."`
	For      string `name:"for" default:"html" placeholder:"NAME" help:"What the site is made with: ${snippets}."`
	Key      string `name:"key" help:"Text of one of the site's publishable keys. Default: the site's newest key."`
	URL      string `name:"url" env:"OCTAVO_URL" help:"Address of Octavo as browsers see it. Default: OCTAVO_PUBLIC_URL."`
	Newest   bool   `help:"Load the script of the running version, whatever it is. Browsers cannot check its hash then."`
}

// errNoPublishableKey means that a site has no key for the snippet.
var errNoPublishableKey = errors.New("has no publishable key")

// Run prints the snippet.
func (c *SnippetCmd) Run() error {
	if c.Key == "" {
		err := withStore(&c.Settings, "site snippet", func(ctx context.Context, st *store.Store) (err error) {
			c.Key, err = newestKey(ctx, st, c.Site)
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.print(os.Stdout, os.Stderr)
}

// newestKey returns the text of a site's newest publishable key.
func newestKey(ctx context.Context, st *store.Store, site string) (string, error) {
	if _, err := st.Sites.ByID(ctx, site); err != nil {
		return "", err
	}
	secret, err := access.NewKeySecret(st).Read(ctx)
	if err != nil {
		return "", err
	}
	keys, err := st.Sites.ListPublishableKeys(ctx, site, "", schema.MaxLimit)
	if err != nil {
		return "", err
	}
	if len(keys.Rows) == 0 {
		return "", fmt.Errorf("the site %s %w", site, errNoPublishableKey)
	}
	newest := keys.Rows[len(keys.Rows)-1]
	return schema.PublishableKeyText(secret, newest.ID, int(newest.Generation)), nil
}

func (c *SnippetCmd) print(out, say io.Writer) error {
	base := cmp.Or(c.URL, c.publicURL())
	text, err := tracker.Snippet(c.For, tracker.Site{Base: base, Key: c.Key, Newest: c.Newest})
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
